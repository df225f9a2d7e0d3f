"""Keys as a person chose them, keys that send, and where the focus may stop."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Page, expect

from accounts.models import Project
from console.models import Preferences
from reviews.models import Ruling
from tests.browser.conftest import Desk
from tests.browser.test_accessibility import violations
from tests.support.builders import Person, pause_run, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")
Open = Callable[..., Page]


def open_pauses(agent: httpx.Client, *, count: int) -> list[str]:
    return [pause_run(agent, start_run(agent))["review"]["id"] for _ in range(count)]


def test_another_key_is_chosen_and_the_old_one_is_silent(
    desk: Desk, queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    open_pauses(agent, count=1)
    page = desk.open(f"/p/{project.slug}/settings/keyboard/", person=alice)
    assert violations(page) == ""
    page.get_by_label("Approve, or send the answer").fill("d")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("has this key already")).to_be_visible()
    assert violations(page) == ""
    page.get_by_label("Approve, or send the answer").fill("y")
    page.get_by_label("Claim, or release").fill("")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    page = queue_of(alice, project.slug)
    approve = page.get_by_role("button", name="Approve")
    expect(approve).to_have_attribute("aria-keyshortcuts", "Y")
    expect(approve.locator("kbd")).to_have_text("Y")
    claim = page.get_by_role("button", name="Claim")
    expect(claim).not_to_have_attribute("aria-keyshortcuts", "C")
    expect(claim.locator("kbd")).to_be_hidden()
    for key in ("a", "c"):
        page.keyboard.press(key)
    expect(claim).to_be_visible()
    page.keyboard.press("y")
    expect(page.locator("#closing")).to_contain_text("You approved this")


def test_ctrl_enter_sends_from_a_field(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    first, _ = open_pauses(agent, count=2)
    page = queue_of(alice, project.slug)
    page.keyboard.press("n")
    page.keyboard.type("Keep the fixtures")
    page.keyboard.press("ControlOrMeta+Enter")
    expect(page.locator("#closing")).to_contain_text("Keep the fixtures")
    expect(page.locator("#outcome")).to_be_focused()
    page.keyboard.press("j")
    expect(page.locator("#detail")).not_to_have_attribute("data-code", first)
    page.get_by_role("button", name="Abort run").first.click()
    page.keyboard.type("Wrong branch")
    page.keyboard.press("ControlOrMeta+Enter")
    expect(page.locator("#closing")).to_contain_text("You aborted the run")
    ruled = Ruling.objects.filter(by=alice.user).order_by("pk")
    assert [ruling.action for ruling in ruled] == ["approve", "abort"]
    assert str(ruled[0].review.code) == first


def test_a_digit_picks_an_offered_answer_and_the_next_key_sends_it(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    run = start_run(agent)
    body = {"kind": "question", "title": "Which?", "options": ["keep 402", "keep 418"]}
    review = agent.post(f"/runs/{run}/reviews", json=body).json()["id"]
    page = queue_of(alice, project.slug)
    page.keyboard.press("2")
    expect(page.locator(f"#note-{review}")).to_have_value("keep 418")
    expect(page.get_by_role("button", name="Answer")).to_be_focused()
    page.keyboard.press("a")
    expect(page.locator("#closing")).to_contain_text("You answered this")
    answer = agent.get(f"/runs/{run}/decision").json()["ruling"]["answer"]
    assert answer == "keep 418"


def test_the_next_review_opens_after_a_ruling_and_takes_no_key_at_once(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    Preferences.objects.filter(user=alice.user).update(opens_next=True)
    first, second, third = open_pauses(agent, count=3)
    page = queue_of(alice, project.slug)
    page.evaluate(
        # As a hand that presses twice: at the moment that the next one is there.
        """() => new MutationObserver((_, it) => {
            const code = document.querySelector("#detail").dataset.code
            if (code === window.first) return
            it.disconnect()
            document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "a", bubbles: true}))
        }).observe(document.body, {subtree: true, childList: true, attributes: true})"""
    )
    page.evaluate("code => { window.first = code }", first)
    page.keyboard.press("a")
    expect(page.locator("#detail")).to_have_attribute("data-code", second)
    toast = page.locator("#toast")
    expect(toast).to_contain_text("only just opened")
    expect(page.get_by_role("button", name="Approve")).to_be_enabled()
    page.wait_for_timeout(300)
    page.keyboard.press("a")
    expect(page.locator("#detail")).to_have_attribute("data-code", third)
    expect(toast).to_contain_text("You approved this")
    expect(toast.get_by_role("link")).to_have_attribute(
        "href", f"/p/{project.slug}/queue/{second}/"
    )
    assert Ruling.objects.filter(by=alice.user).count() == 2


def test_g_and_a_letter_go_to_a_page(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    open_pauses(agent, count=1)
    page = queue_of(alice, project.slug)
    page.keyboard.press("g")
    expect(page.locator("#toast")).to_contain_text("R Runs")
    page.keyboard.press("r")
    page.wait_for_url("**/runs/")
    expect(page.locator("#conn")).to_have_attribute("data-state", "live")
    page.keyboard.press("g")
    page.keyboard.press("q")
    page.wait_for_url("**/queue/")


def test_the_list_is_one_stop_and_links_lead_past_it(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    first, second, _ = open_pauses(agent, count=3)
    page = queue_of(alice, project.slug)
    stop = page.locator("#queue [data-open-row]:not([tabindex='-1'])")
    expect(stop).to_have_count(1)
    expect(stop).to_have_attribute("data-open-row", first)
    stop.focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator("#detail")).to_have_attribute("data-code", second)
    expect(stop).to_be_focused()
    expect(stop).to_have_attribute("data-open-row", second)
    open_pauses(agent, count=1)
    expect(page.locator("#queue [data-open-row]")).to_have_count(4)
    expect(stop).to_have_count(1)
    # Anew: a browser may go on from where the keyboard was before a reload.
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the review")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport(ratio=1)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # to the decision
    page.keyboard.press("Tab")
    expect(page.locator("#dock :focus")).to_have_count(1)


def test_on_a_phone_there_is_next_and_previous(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    first, second = open_pauses(agent, count=2)
    page = queue_of(alice, project.slug, f"{first}/", size=(390, 844))
    page.get_by_role("button", name="Next review").click()
    expect(page.locator("#detail")).to_have_attribute("data-code", second)
    page.get_by_role("button", name="Previous review").click()
    expect(page.locator("#detail")).to_have_attribute("data-code", first)
