"""The first visit, and a notification while nobody looks."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Page, expect

from accounts.models import Project
from console.models import Preferences
from tests.browser.test_accessibility import violations
from tests.reviews.floods import ask_to_run
from tests.support.builders import Person, pause_run, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")
Open = Callable[..., Page]
# As a browser in which they are allowed, and whose window is behind another one.
AWAY = """() => {
    window.told = []
    window.Notification = class extends EventTarget {
        static permission = "granted"
        constructor(title) { super(); window.told.push(title)
            document.documentElement.dataset.told = window.told.length }
    }
    document.hasFocus = () => false
}"""


def test_the_cards_are_closed_once_and_for_good(
    queue_of: Open, project: Project, bob: Person
) -> None:
    Preferences.objects.filter(user=bob.user).update(introduced=False)
    page = queue_of(bob, project.slug)
    cards = page.get_by_role("dialog", name="Welcome")
    expect(cards.get_by_role("heading", level=3)).to_have_count(4)
    expect(cards.get_by_role("button", name="Start")).to_be_focused()
    assert violations(page) == ""
    with page.expect_response("**/introduction/end/"):
        page.keyboard.press("Escape")
    page.reload()
    expect(page.locator("#conn")).to_have_attribute("data-state", "live")
    expect(cards).to_have_count(0)


def test_who_is_away_is_told_of_what_is_severe_enough(
    queue_of: Open, project: Project, bob: Person, agent: httpx.Client
) -> None:
    Preferences.objects.filter(user=bob.user).update(desktop_from="high")
    page = queue_of(bob, project.slug)
    page.evaluate(AWAY)
    pause_run(agent, start_run(agent))  # medium
    ask_to_run(agent, "rm -rf build")
    root = page.locator("html")
    expect(root).to_have_attribute("data-told", "1")
    ask_to_run(agent, "rm -rf cache")
    expect(root).to_have_attribute("data-told", "2")
    told = page.evaluate("window.told")
    assert [title.partition(":")[0] for title in told] == [
        "rm -rf build",
        "rm -rf cache",
    ]
