"""Several reviews are selected and ruled by keys alone."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Page, expect

from accounts.models import Project
from reviews.models import Review
from tests.reviews.floods import ask_to_run
from tests.support.builders import Person

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")
Open = Callable[..., Page]


def test_after_one_ruling_all_that_are_like_it_are_a_selection(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    calls = [ask_to_run(agent, f"rm -rf build/{name}") for name in "abcdef"]
    page = queue_of(alice, project.slug, f"{calls[0]}/")
    page.locator("#dock textarea[name=text]").fill("Old builds.")
    page.locator("#dock button[value=deny]").click()
    expect(page.locator("#dock")).to_contain_text("5 more wait just like this")
    page.keyboard.press("l")
    expect(page.locator("#selection")).to_contain_text("5 selected")
    page.locator("#selection button[value=deny]").click()
    page.get_by_label("Reason, sent to each agent").fill("Old builds.")
    page.get_by_role("button", name="Deny 5").click()
    expect(page.locator("#selection-dialog")).to_contain_text("5 denied")
    found = Review.objects.filter(code__in=calls, state="ruled")
    assert found.count() == 6


def test_rows_are_ticked_extended_and_denied_with_one_reason(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    calls = [ask_to_run(agent, f"rm -rf {'x ' * count}build") for count in range(4)]
    page = queue_of(alice, project.slug)
    bar, dialog = page.locator("#selection"), page.locator("#selection-dialog")
    expect(bar).to_be_hidden()
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(bar).to_contain_text("1 selected")
    page.keyboard.press("Shift+J")
    expect(bar).to_contain_text("2 selected")
    page.keyboard.press("Escape")
    expect(bar).to_be_hidden()
    page.keyboard.press("x")
    page.keyboard.press("Shift+K")
    expect(bar).to_contain_text("2 selected")
    bar.get_by_role("button", name="Deny").click()
    expect(dialog).to_contain_text("Deny 2 reviews?")
    page.get_by_label("Reason, sent to each agent").fill("Still in use.")
    page.keyboard.press("Control+Enter")
    expect(dialog).to_contain_text("2 denied")
    page.keyboard.press("Escape")
    expect(page.locator("#queue li")).to_have_count(2)
    expect(bar).to_be_hidden()
    found = Review.objects.filter(code__in=calls, state="ruled")
    assert {str(each.code) for each in found} == {calls[1], calls[2]}
