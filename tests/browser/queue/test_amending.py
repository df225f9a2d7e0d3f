"""A call is changed in a real browser: judged while it is typed, confirmed, marked."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, Page, Route, expect

from accounts.models import Project
from tests.browser.test_accessibility import violations
from tests.gateway.calls.calls import ask, claim, command, tool
from tests.support.builders import Person, make_policy, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")
Open = Callable[..., Page]
WORSE = "rm -rf / --no-preserve-root"
SLOW_SECONDS = 0.3


@pytest.fixture
def run(agent: httpx.Client) -> str:
    return start_run(agent)


def open_amend_box(
    queue_of: Open, bob: Person, slug: str, call: dict[str, Any]
) -> Page:
    page = queue_of(bob, slug, f"{call['review']['id']}/")
    page.keyboard.press("e")
    return page


def type_text(page: Page, text: str) -> None:
    """By key, over what stands in the box."""
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type(text)


def confirm_box(page: Page) -> Locator:
    return page.get_by_label("I have read")


def slow(route: Route) -> None:
    time.sleep(SLOW_SECONDS)
    route.continue_()


@pytest.mark.parametrize("delayed", [False, True], ids=["quick", "slowed"])
def test_what_was_typed_is_granted_only_with_its_findings_confirmed(
    queue_of: Open,
    project: Project,
    bob: Person,
    agent: httpx.Client,
    run: str,
    delayed: bool,
) -> None:
    call = command(agent, run, "rm -rf build")
    page = open_amend_box(queue_of, bob, project.slug, call)
    if delayed:
        page.route("**/amend/", slow)
        page.route("**/rule/", slow)
    dialog = page.get_by_role("dialog", name="Approve with changes")
    grant = dialog.get_by_role("button", name="Approve with")
    expect(dialog.locator("#amend-verdict")).to_contain_text("Nothing is changed yet")
    type_text(page, WORSE)
    grant.click()  # before anything was judged, or confirmed
    expect(dialog.get_by_role("alert")).to_contain_text("The gates still ask about")
    assert claim(agent, run, call).status_code == 409
    expect(dialog.locator("#amend-verdict mark")).to_contain_text("rm -rf /")
    expect(dialog.locator("#amend-verdict")).to_contain_text("delete-folder")
    assert violations(page) == ""
    confirm_box(page).check()
    # Another key: what was confirmed is no longer what stands in the box.
    dialog.get_by_label("The command as it should run").focus()
    page.keyboard.press("End")
    page.keyboard.type(" -v")
    expect(confirm_box(page)).not_to_be_checked()
    expect(dialog.locator("#amend-verdict mark")).to_contain_text("-v")
    confirm_box(page).check()
    expect(grant).to_have_text("Approve with 1 finding")
    grant.click()
    expect(page.locator("#closing")).to_contain_text("You approved this with changes")
    approved = page.get_by_label("What was approved")
    expect(approved.locator("mark")).to_contain_text("rm -rf /")
    expect(approved).to_contain_text("1 finding let through")
    assert violations(page) == ""
    ruling = agent.get(f"/runs/{run}/decision").json()["ruling"]
    assert ruling["amended"]["command"] == f"{WORSE} -v"


def test_arguments_are_judged_while_they_are_typed(
    queue_of: Open, project: Project, bob: Person, agent: httpx.Client, run: str
) -> None:
    call = tool(agent, run, "mcp__db__query", sql="DROP TABLE t")
    page = open_amend_box(queue_of, bob, project.slug, call)
    verdict = page.locator("#amend-verdict")
    type_text(page, '{"sql": "SELECT 1"')
    expect(verdict).to_contain_text("This is no JSON yet")
    page.keyboard.type("}")
    expect(verdict).to_contain_text("The gates find nothing against this")
    expect(confirm_box(page)).to_have_count(0)


def test_a_draft_is_judged_when_it_is_opened_and_kept_over_updates(
    queue_of: Open,
    project: Project,
    bob: Person,
    agent: httpx.Client,
    reviewer: httpx.Client,
    run: str,
) -> None:
    call = command(agent, run, "rm -rf build")
    page = open_amend_box(queue_of, bob, project.slug, call)
    type_text(page, WORSE)
    expect(confirm_box(page)).to_be_visible()
    page.reload()
    expect(page.locator("#conn")).to_have_attribute("data-state", "live")
    page.keyboard.press("e")
    confirm_box(page).check()
    review = call["review"]["id"]
    reviewer.post(f"/reviews/{review}/comments", json={"text": "Look closely"})
    expect(page.locator("ol.notes")).to_contain_text("Look closely")
    expect(confirm_box(page)).to_be_checked()


def test_on_a_phone_a_refusal_stands_beside_the_button_and_has_the_focus(
    queue_of: Open, project: Project, bob: Person, agent: httpx.Client, run: str
) -> None:
    call = command(agent, run, "rm -rf build")
    path = f"{call['review']['id']}/"
    page = queue_of(bob, project.slug, path, size=(390, 780))
    page.keyboard.press("e")
    dialog = page.get_by_role("dialog", name="Approve with changes")
    grant = dialog.locator("[value=amend]")
    type_text(page, f"{WORSE}; git push --force")
    expect(grant).to_have_text("Approve with 2 findings")
    expect(dialog.locator("#amend-verdict > .notice")).to_contain_class("stop")
    expect(grant).to_be_in_viewport(ratio=1)
    # The browser itself leads to the box that is not ticked.
    grant.click()
    expect(confirm_box(page).first).to_be_focused()
    expect(confirm_box(page).first).to_be_in_viewport(ratio=1)
    assert claim(agent, run, call).status_code == 409
    # Judged anew meanwhile, it cannot be ticked yet: the server refuses.
    page.route("**/amend/", slow)
    dialog.get_by_label("The command as it should run").press("End")
    page.keyboard.type("!")
    grant.click()
    alert = dialog.get_by_role("alert")
    expect(alert).to_contain_text("The gates still ask about")
    expect(alert).to_be_focused()
    expect(alert).to_be_in_viewport(ratio=1)
    expect(grant).to_be_in_viewport(ratio=1)
    expect(dialog.locator("#amend-verdict[aria-busy]")).to_have_count(0)
    assert violations(page) == ""


def test_several_edits_are_changed_by_keyboard(
    queue_of: Open, project: Project, bob: Person, agent: httpx.Client
) -> None:
    ours = {"name": "words", "pattern": "total", "message": "A word of ours"}
    make_policy("careful", project=project, tools={"patterns": [ours]})
    run = start_run(agent, policy="careful")
    edits = [{"old": "a", "new": "total"}, {"old": "b", "new": "c"}]
    body = {"kind": "multi_edit", "file_path": "x.py", "original": "a\nb\n"}
    call = ask(agent, run, **body, edits=edits)
    page = open_amend_box(queue_of, bob, project.slug, call)
    dialog = page.get_by_role("dialog", name="Approve with changes")
    expect(dialog.get_by_label("Edit 1 of 2: What it puts in")).to_be_focused()
    type_text(page, "my total")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    second = dialog.get_by_label("Edit 2 of 2: What it puts in")
    expect(second).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    verdict = dialog.locator("#amend-verdict")
    expect(verdict).to_contain_text("The gates still ask about this")
    expect(verdict.locator(".part-title")).to_have_count(2)
    assert violations(page) == ""
    confirm_box(page).focus()
    page.keyboard.press("Space")
    expect(dialog.get_by_role("button", name="Approve with 1 finding")).to_be_visible()
    page.keyboard.press("ControlOrMeta+Enter")
    expect(page.locator("#closing")).to_contain_text("You approved this with changes")
    ruling = agent.get(f"/runs/{run}/decision").json()["ruling"]
    left = {"old": "a", "new": "my total", "replace_all": False}
    assert ruling["amended"]["edits"] == [left]


def test_what_is_wrong_with_a_request_stands_at_its_field_and_nothing_is_lost(
    queue_of: Open, project: Project, bob: Person, agent: httpx.Client, run: str
) -> None:
    call = tool(
        agent,
        run,
        "http_request",
        method="DELETE",
        url="https://api.example.org/users/7",
        headers={"Accept": "text/html"},
    )
    page = open_amend_box(queue_of, bob, project.slug, call)
    dialog = page.get_by_role("dialog", name="Approve with changes")
    type_text(page, "GET")
    address = dialog.get_by_label("Address")
    address.focus()
    type_text(page, "example.org")
    verdict = dialog.locator("#amend-verdict")
    expect(verdict).to_contain_text("Address: Write a whole address")
    expect(address).to_have_attribute("aria-invalid", "true")
    page.keyboard.press("ControlOrMeta+Enter")
    error = dialog.get_by_role("alert").filter(has_text="Write a whole address")
    expect(error).to_be_visible()
    assert violations(page) == ""
    expect(address).to_have_value("example.org")
    expect(dialog.get_by_label("Method")).to_have_value("GET")
    address.focus()
    type_text(page, "https://example.org/users/7")
    expect(verdict).to_contain_text("The gates find nothing against this")
    page.keyboard.press("ControlOrMeta+Enter")
    expect(page.locator("#closing")).to_contain_text("You approved this with changes")
    ruling = agent.get(f"/runs/{run}/decision").json()["ruling"]
    assert ruling["amended"]["arguments"]["url"] == "https://example.org/users/7"
