"""One key for what is low or medium, a second one for high, a reason for critical."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

import httpx
import pytest
from playwright.sync_api import Page, expect

from accounts.models import Project
from reviews.models import Review, Ruling
from tests.browser.test_accessibility import violations
from tests.reviews.floods import ask_to_run
from tests.support.builders import Person

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")
Open = Callable[..., Page]


def test_high_takes_the_same_key_twice_on_the_same_review(
    queue_of: Open, project: Project, bob: Person, agent: httpx.Client
) -> None:
    first, second = (ask_to_run(agent, f"rm -rf build-{n}") for n in (1, 2))
    page = queue_of(bob, project.slug, f"{first}/")
    detail = page.locator("#detail")
    page.keyboard.press("a")
    expect(page.locator("#toast")).to_contain_text("press again to approve")
    page.keyboard.press("j")
    expect(detail).to_have_attribute("data-code", second)
    page.keyboard.press("a")  # the second one, but about another review
    page.keyboard.press("d")
    expect(page.locator("#toast")).to_contain_text("write why")
    expect(page.locator(f"#note-{second}")).to_be_focused()
    assert not Ruling.objects.filter(by=bob.user).exists()
    page.keyboard.type("Not this one")
    page.keyboard.press("Escape")
    page.keyboard.press("d")
    expect(page.locator("#closing")).to_contain_text("You denied this")
    page.keyboard.press("k")
    expect(detail).to_have_attribute("data-code", first)
    page.keyboard.press("a")
    page.keyboard.press("a")
    expect(page.locator("#closing")).to_contain_text("You approved this")


def test_a_first_press_ends_with_the_review_that_it_was_for(
    queue_of: Open, project: Project, bob: Person, agent: httpx.Client
) -> None:
    first, second = (ask_to_run(agent, f"rm -rf build-{n}") for n in (1, 2))
    page = queue_of(bob, project.slug, f"{first}/")
    toast, detail = page.locator("#toast"), page.locator("#detail")
    armed = page.get_by_role("button", name="Press again to approve")
    page.keyboard.press("a")
    expect(toast).to_contain_text("press again to approve")
    page.keyboard.press("j")
    expect(detail).to_have_attribute("data-code", second)
    expect(toast).to_be_hidden()
    page.keyboard.press("k")
    expect(detail).to_have_attribute("data-code", first)
    expect(armed).to_have_count(0)
    page.keyboard.press("a")
    expect(armed).to_be_visible()
    assert not Ruling.objects.filter(by=bob.user).exists()
    page.keyboard.press("a")
    expect(page.locator("#closing")).to_contain_text("You approved this")
    expect(toast).to_be_hidden()


def test_high_takes_a_second_click_on_a_button_that_says_so(
    queue_of: Open, project: Project, bob: Person, agent: httpx.Client
) -> None:
    first, second = (ask_to_run(agent, f"rm -rf build-{n}") for n in (1, 2))
    page = queue_of(bob, project.slug, f"{first}/")
    approve = page.locator("#dock [value=approve]")
    armed = page.get_by_role("button", name="Press again to approve")
    approve.dblclick()  # one gesture, one press
    expect(armed).to_be_visible()
    said = page.get_by_role("status").filter(has_text="press again to approve")
    expect(said).to_be_visible()
    assert violations(page) == ""
    page.keyboard.press("j")
    expect(page.locator("#detail")).to_have_attribute("data-code", second)
    expect(armed).to_have_count(0)
    approve.click()
    expect(armed).to_be_visible()
    assert not Ruling.objects.filter(by=bob.user).exists()
    approve.click()
    expect(page.locator("#closing")).to_contain_text("You approved this")
    assert Ruling.objects.get(by=bob.user).review.code == UUID(second)


def test_critical_takes_a_written_reason(
    queue_of: Open, project: Project, bob: Person, agent: httpx.Client
) -> None:
    review = ask_to_run(agent, "rm -rf build")
    Review.objects.filter(code=review).update(severity="critical")
    page = queue_of(bob, project.slug, f"{review}/")
    for _ in range(2):
        page.keyboard.press("a")
        expect(page.locator(f"#note-{review}")).to_be_focused()
        page.keyboard.press("Escape")
    assert not Ruling.objects.filter(by=bob.user).exists()
    page.keyboard.press("a")
    page.keyboard.type("Checked with the owner")
    page.keyboard.press("ControlOrMeta+Enter")
    expect(page.locator("#closing")).to_contain_text("Checked with the owner")
