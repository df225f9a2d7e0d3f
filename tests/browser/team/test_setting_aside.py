"""A review is set aside by keys, leaves every screen and comes back to it by itself."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.models import Project
from reviews.models import Review
from reviews.teamwork.sweep import return_snoozed
from tests.browser.test_accessibility import violations
from tests.browser.test_narrow import PHONE, fits
from tests.support.builders import Person, pause_run, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")
Open = Callable[..., Page]


@pytest.fixture
def review(agent: httpx.Client) -> str:
    code: str = pause_run(agent, start_run(agent))["review"]["id"]
    return code


def test_it_is_set_aside_until_a_time_and_comes_back_to_every_screen(
    queue_of: Open, project: Project, alice: Person, bob: Person, review: str
) -> None:
    his = queue_of(bob, project.slug, size=PHONE)
    hers = queue_of(alice, project.slug, f"{review}/")
    hers.keyboard.press("w")
    dialog = hers.get_by_role("dialog", name="Set aside")
    expect(dialog.get_by_role("radio").first).to_be_focused()
    assert violations(hers) == ""
    hers.keyboard.press("ArrowDown")
    expect(dialog.get_by_role("radio", name="For an hour")).to_be_checked()
    hers.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    expect(hers.locator("#aside")).to_contain_text("Set aside")
    for page in (hers, his):
        expect(page.locator(f"#review-{review}")).to_have_count(0)
        expect(page.locator('[data-count="snoozed"]')).to_have_text("1")
    rows = Review.objects.filter(code=review)
    assert rows.update(snoozed_until=timezone.now())  # its time has come
    return_snoozed()
    for page in (hers, his):
        expect(page.locator(f"#review-{review}")).to_have_count(1)
        expect(page.locator('[data-count="snoozed"]')).to_have_text("0")
    expect(hers.locator("#aside")).to_have_count(0)
    hers.keyboard.press("a")
    expect(hers.locator("#closing")).to_contain_text("You approved this")


def test_on_a_phone_it_is_found_and_brought_back(
    queue_of: Open,
    project: Project,
    bob: Person,
    manager: httpx.Client,
    review: str,
) -> None:
    answer = manager.post(f"/reviews/{review}/snooze", json={"until": "comment"})
    assert answer.status_code == 200, answer.text
    page = queue_of(bob, project.slug, "?show=snoozed", size=PHONE)
    page.locator(f"#review-{review} a").click()
    expect(page.locator("#aside")).to_contain_text("until somebody comments")
    assert violations(page) == ""
    assert fits(page)
    page.get_by_role("button", name="Bring back").click()
    expect(page.locator("#aside")).to_have_count(0)
    page.get_by_role("link", name="Back to the queue").click()
    expect(page.locator(f"#review-{review}")).to_be_visible()
