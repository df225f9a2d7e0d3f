"""A pause is approved for the next steps by keyboard alone, and taken back again."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Page, expect

from accounts.models import Project
from tests.browser.conftest import Desk
from tests.browser.test_accessibility import violations
from tests.support.builders import Person, start_run, step

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def report(agent: httpx.Client, run: str, number: int) -> str:
    body = step(number, uncertainty=0.86)
    answer = agent.post(f"/runs/{run}/steps", json=body)
    assert answer.status_code == 201, answer.text
    decision: str = answer.json()["decision"]
    return decision


def press_until(page: Page, key: str, name: str) -> None:
    """Go on by a key until the field of this name has the focus."""
    for _ in range(10):
        page.keyboard.press(key)
        if page.evaluate("document.activeElement.name") == name:
            return
    raise AssertionError(f"{key} does not reach {name}")


def test_twenty_steps_are_allowed_by_keyboard_and_taken_back(
    queue_of: Callable[..., Page],
    desk: Desk,
    project: Project,
    alice: Person,
    agent: httpx.Client,
) -> None:
    run = start_run(agent)
    assert report(agent, run, 1) == "pause"
    review = agent.get(f"/runs/{run}").json()["open_reviews"][0]["id"]
    page = queue_of(alice, project.slug, f"{review}/")
    offer = page.get_by_role("group", name="How long it may go on")
    expect(offer.get_by_role("radio", name="this once")).to_be_checked()
    expect(page.get_by_label("How many steps")).to_be_hidden()

    # The key of the note leads into the dock; the choice stands before the note.
    page.keyboard.press("n")
    expect(page.get_by_label("Note to the agent")).to_be_focused()
    press_until(page, "Shift+Tab", "allow")
    page.keyboard.press("ArrowRight")
    expect(offer.get_by_role("radio", name="steps")).to_be_checked()
    press_until(page, "Tab", "allow_steps")
    page.keyboard.press("Control+A")
    page.keyboard.type("3")
    press_until(page, "Tab", "allow_up_to")
    expect(page.get_by_label("With uncertainty up to")).to_have_value("0.86")
    page.keyboard.press("Control+A")
    page.keyboard.type("0.9")
    assert violations(page, coloured="#dock") == ""
    press_until(page, "Tab", "text")
    page.keyboard.type("Use the 2025 table.")
    page.keyboard.press("Control+Enter")

    expect(page.locator("#closing")).to_contain_text("You approved this")
    expect(page.locator("#given")).to_contain_text("Uncertainty up to 0.90 for 3 steps")
    assert report(agent, run, 2) == "continue"

    runs = desk.open(f"/p/{project.slug}/runs/{run}/", person=alice)
    allowed = runs.get_by_role("region", name="Allowed")
    expect(allowed).to_contain_text("2 of 3 steps left")
    expect(allowed).to_contain_text("Use the 2025 table.")
    assert violations(runs, coloured="#run-allowances") == ""
    # The page follows the run.
    assert report(agent, run, 3) == "continue"
    expect(allowed).to_contain_text("1 of 3 steps left")
    allowed.get_by_role("button", name="Revoke").press("Enter")
    expect(allowed).to_have_count(0)
    assert report(agent, run, 4) == "pause"


def test_another_review_begins_with_this_once(
    queue_of: Callable[..., Page], project: Project, alice: Person, agent: httpx.Client
) -> None:
    """What was chosen for one review never goes with the next one."""
    runs = [start_run(agent) for _ in range(2)]
    for run in runs:
        report(agent, run, 1)
    first, second = (
        agent.get(f"/runs/{run}").json()["open_reviews"][0]["id"] for run in runs
    )
    page = queue_of(alice, project.slug, f"{first}/")
    page.get_by_role("radio", name="steps").check()
    page.locator(f'.queue a[href*="{second}"]').first.click()
    expect(page.locator(f"#allow-{second}")).to_be_visible()
    expect(page.get_by_role("radio", name="this once")).to_be_checked()
    expect(page.get_by_label("How many steps")).to_be_hidden()
