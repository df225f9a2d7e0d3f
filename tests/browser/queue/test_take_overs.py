"""Two people and one review, with real keys: nobody walks over a claim unseen."""

from __future__ import annotations

import time
from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from accounts.models import Project
from tests.browser.test_accessibility import violations
from tests.gateway.calls.calls import command
from tests.support.builders import Person, pause_run, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")
Open = Callable[..., Page]
SLOW_SECONDS = 0.3


def slow(route: Route) -> None:
    time.sleep(SLOW_SECONDS)
    route.continue_()


@pytest.fixture
def review(agent: httpx.Client) -> str:
    code: str = pause_run(agent, start_run(agent))["review"]["id"]
    return code


@pytest.mark.parametrize("delayed", [False, True], ids=["quick", "slowed"])
def test_the_key_warns_first_and_rules_second(
    queue_of: Open,
    project: Project,
    alice: Person,
    bob: Person,
    review: str,
    delayed: bool,
) -> None:
    hers = queue_of(alice, project.slug, f"{review}/")
    hers.keyboard.press("c")
    expect(hers.get_by_role("button", name="Release")).to_be_visible()
    his = queue_of(bob, project.slug, f"{review}/")
    expect(his.locator("#claimed")).to_contain_text(
        f"{alice.user.username} has claimed this"
    )
    if delayed:
        his.route("**/rule/", slow)
    his.keyboard.press("a")
    his.keyboard.press("a")  # a second key at once is no second thought
    expect(his.get_by_role("alert")).to_contain_text("Press again to rule anyway")
    expect(hers.locator("#closing")).to_have_count(0)
    assert violations(his) == ""
    his.keyboard.press("a")
    expect(his.locator("#closing")).to_contain_text("You approved this")
    expect(his.locator("#closing")).to_contain_text(
        f"{alice.user.username} had claimed it"
    )
    expect(hers.locator("#closing")).to_contain_text("You had claimed it")


def test_a_take_over_is_told_live_to_who_looks_elsewhere(
    queue_of: Open,
    project: Project,
    alice: Person,
    bob: Person,
    agent: httpx.Client,
    review: str,
) -> None:
    hers = queue_of(alice, project.slug, f"{review}/")
    hers.keyboard.press("c")
    expect(hers.get_by_role("button", name="Release")).to_be_visible()
    call = command(agent, start_run(agent), "rm -rf build")
    hers.locator(f"#review-{call['review']['id']} a").click()
    his = queue_of(bob, project.slug, f"{review}/")
    his.keyboard.press("c")
    expect(his.get_by_role("button", name="Release")).to_be_visible()
    history = his.get_by_role("region", name="History")
    expect(history).to_contain_text(f"taken over from {alice.user.username}")
    toast = hers.locator("#toast")
    expect(toast).to_contain_text(f"{bob.user.username} took this over from you")
    assert violations(hers) == ""
    toast.get_by_role("link", name="Look").click()
    expect(hers.locator("#claimed")).to_contain_text("took this over from you")


@pytest.mark.parametrize("way", ["abort", "amend"])
def test_a_dialog_warns_where_the_reader_looks(
    queue_of: Open,
    project: Project,
    alice: Person,
    bob: Person,
    agent: httpx.Client,
    manager: httpx.Client,
    way: str,
) -> None:
    call = command(agent, start_run(agent), "rm -rf build")
    review = call["review"]["id"]
    manager.post(f"/reviews/{review}/claim")
    page = queue_of(bob, project.slug, f"{review}/")
    page.keyboard.press("b" if way == "abort" else "e")
    dialog = page.get_by_role("dialog")
    press = dialog.get_by_role("button", name="Abort run")
    if way == "amend":
        press = dialog.get_by_role("button", name="Approve with")
        page.keyboard.press("End")
        page.keyboard.type("/cache")
        page.get_by_label("I have read").check()
    press.click()
    alert = dialog.get_by_role("alert")
    expect(alert).to_contain_text(f"{alice.user.username} has claimed this.")
    expect(alert).to_be_in_viewport()
    expect(page.locator("#closing")).to_have_count(0)
    if way == "amend":
        expect(page.get_by_label("I have read")).to_be_checked()
    press.click()
    expect(page.locator("#closing")).to_contain_text(
        "You aborted the run" if way == "abort" else "You approved this with changes"
    )
