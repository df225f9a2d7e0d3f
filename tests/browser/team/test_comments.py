"""Two people talk about a review: one is mentioned, sees it, and answers in the thread."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Page, expect

from accounts.models import Project
from tests.browser.test_accessibility import violations
from tests.browser.test_narrow import PHONE, fits
from tests.support.builders import Person, pause_run, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def test_a_mention_is_seen_and_answered_in_its_thread(
    queue_of: Callable[..., Page],
    project: Project,
    alice: Person,
    bob: Person,
    agent: httpx.Client,
) -> None:
    review, other = (
        pause_run(agent, start_run(agent))["review"]["id"] for _ in range(2)
    )
    his = queue_of(bob, project.slug, f"{other}/")
    hers = queue_of(alice, project.slug, f"{review}/")
    hers.keyboard.press("n")
    hers.keyboard.type(f"@{bob.user.username} is the table of 2025 right?")
    hers.get_by_role("button", name="Add note only").press("Enter")
    expect(hers.locator(".notes .said")).to_have_text(
        f"@{bob.user.username} is the table of 2025 right?"
    )
    row = his.locator(f"#review-{review}")
    expect(row.get_by_text("@you")).to_be_visible()
    expect(hers.get_by_text("@you")).to_be_hidden()
    assert violations(his) == ""
    his.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    his.goto(f"/p/{project.slug}/queue/{review}/")
    expect(his.get_by_text("mentions you")).to_be_visible()
    his.get_by_role("button", name="Reply").press("Enter")
    expect(his.locator("#replying")).to_contain_text(
        f"Your note answers {alice.user.username}."
    )
    expect(his.get_by_label("Note to the agent")).to_be_focused()
    his.keyboard.type("It is. The other one is old.")
    assert fits(his)
    assert violations(his) == ""
    his.get_by_role("button", name="Add note only").press("Enter")
    for page in (his, hers):
        answer = page.locator(".notes .thread .said")
        expect(answer).to_have_text("It is. The other one is old.")
    expect(his.locator("#replying")).to_be_hidden()
    expect(hers.get_by_text("mentions you")).to_have_count(0)
    assert violations(hers) == ""
