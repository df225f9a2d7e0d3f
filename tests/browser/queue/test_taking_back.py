"""A ruling waits on its page for some seconds: taken back, sent, or sent by closing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import httpx
import pytest
from playwright.sync_api import Page, expect

from accounts.models import Project
from console.models import Preferences
from reviews.models import HeldRuling, Review
from reviews.rulings import held
from tests.support.builders import Person, pause_at_once, start_run
from tests.support.people import rule
from tests.support.waiting import until

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


@pytest.fixture
def review(agent: httpx.Client, alice: Person) -> str:
    Preferences.objects.filter(user=alice.user).update(takes_back=True)
    return pause_at_once(agent, start_run(agent))


def is_ruled(review: str) -> bool:
    return Review.objects.get(code=review).state == "ruled"


def test_it_is_taken_back_by_a_key_and_sent_when_its_time_is_over(
    queue_of: Callable[..., Page],
    project: Project,
    alice: Person,
    bob: Person,
    review: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mine = queue_of(alice, project.slug, f"{review}/")
    other = queue_of(bob, project.slug, f"{review}/")

    # On a busy machine a test looks at two pages for longer than people may think again.
    with monkeypatch.context() as patch:
        patch.setattr(held, "WINDOW", timedelta(minutes=2))
        mine.keyboard.press("a")
        expect(mine.locator("#holding")).to_contain_text("You approved this")
        expect(other.locator("#outcome")).to_contain_text("approved this, sent in")
        mine.keyboard.press("z")
        expect(mine.locator("#holding")).to_have_count(0)
    expect(mine.locator("#toast")).to_have_text("Taken back. The review is open.")
    # The box of what became of it is empty, whoever has the focus.
    expect(mine.locator("#outcome")).to_have_css("box-shadow", "none")
    expect(mine.get_by_role("button", name="Approve")).to_be_enabled()
    expect(other.locator("#outcome")).not_to_contain_text("sent in")
    assert not is_ruled(review)

    mine.keyboard.press("a")
    expect(mine.locator("#holding")).to_be_visible()
    # Its page waits eight seconds, and no longer.
    expect(other.locator("#closing")).to_contain_text("approved this", timeout=15_000)
    expect(mine.locator("#closing")).to_contain_text("You approved this")
    assert not HeldRuling.objects.filter(review__code=review).exists()


def test_closing_the_page_sends_it(
    queue_of: Callable[..., Page],
    project: Project,
    alice: Person,
    review: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(held, "WINDOW", timedelta(minutes=2))  # nothing else sends it
    page = queue_of(alice, project.slug, f"{review}/")
    page.keyboard.press("a")
    expect(page.locator("#holding")).to_be_visible()
    page.goto("about:blank")
    until(lambda: is_ruled(review))


def test_it_is_said_when_another_was_sooner(
    queue_of: Callable[..., Page],
    project: Project,
    alice: Person,
    reviewer: httpx.Client,
    bob: Person,
    review: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(held, "WINDOW", timedelta(minutes=2))
    page = queue_of(alice, project.slug, f"{review}/")
    page.keyboard.press("a")
    expect(page.locator("#holding")).to_be_visible()
    rule(reviewer, review, "abort", note="Wrong branch")
    expect(page.locator("#closing")).to_contain_text("aborted")
    expect(page.locator("#toast")).to_contain_text("Your ruling was not sent.")
    expect(page.locator("#toast")).to_contain_text(bob.user.username)


def test_who_rules_second_is_told_that_theirs_comes_after(
    queue_of: Callable[..., Page],
    project: Project,
    alice: Person,
    bob: Person,
    review: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(held, "WINDOW", timedelta(minutes=2))
    Preferences.objects.filter(user=bob.user).update(takes_back=True)
    first = queue_of(bob, project.slug, f"{review}/")
    second = queue_of(alice, project.slug, f"{review}/")
    first.keyboard.press("a")
    expect(second.locator("#outcome")).to_contain_text("approved this, sent in")
    second.keyboard.press("a")
    expect(second.locator("#holding")).to_contain_text("You approved this")
    after = f"After {bob.user.username}’s, and only if the review is still open then."
    expect(second.locator("#holding")).to_contain_text(after)
    expect(first.locator("#outcome")).to_contain_text(alice.user.username)
    expect(first.locator("#holding")).not_to_contain_text("After")
    first.keyboard.press("z")
    expect(second.locator("#holding")).not_to_contain_text("After")
