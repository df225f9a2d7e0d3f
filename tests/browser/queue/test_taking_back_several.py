"""A decision on several reviews waits on its page: taken back whole, or sent by leaving."""

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
from tests.browser.test_accessibility import violations
from tests.reviews.floods import ask_to_run
from tests.support.builders import Person
from tests.support.waiting import until

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def select_and_deny(page: Page) -> None:
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.keyboard.press("Shift+K")
    page.locator("#selection").get_by_role("button", name="Deny").click()
    page.get_by_label("Reason, sent to each agent").fill("Still in use.")
    page.keyboard.press("ControlOrMeta+Enter")


def test_all_are_taken_back_by_keyboard_and_sent_by_leaving_the_page(
    queue_of: Callable[..., Page],
    project: Project,
    alice: Person,
    agent: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # On a busy machine axe looks for longer than people may think again.
    monkeypatch.setattr(held, "WINDOW", timedelta(minutes=2))
    calls = [ask_to_run(agent, f"rm -rf {'x ' * count}build") for count in range(2)]
    reviews = Review.objects.filter(code__in=calls)
    Preferences.objects.filter(user=alice.user).update(takes_back=True)
    page = queue_of(alice, project.slug)
    dialog = page.locator("#selection-dialog")

    select_and_deny(page)
    expect(dialog).to_contain_text("2 denied")
    expect(dialog).to_contain_text("No agent has heard of it yet")
    assert violations(page) == ""
    dialog.get_by_role("button", name="Take back").press("Enter")
    expect(dialog).to_be_hidden()
    expect(page.locator("#toast")).to_contain_text("2 reviews are open")
    assert not HeldRuling.objects.filter(review__code__in=calls).exists()
    assert {each.state for each in reviews} == {"open"}

    page.reload()
    expect(page.locator("#conn")).to_have_attribute("data-state", "live")
    select_and_deny(page)
    expect(dialog).to_contain_text("2 denied")
    page.keyboard.press("Escape")
    expect(page.locator("#toast")).to_contain_text("Take back")
    page.goto("about:blank")
    until(lambda: {each.state for each in reviews.all()} == {"ruled"})
