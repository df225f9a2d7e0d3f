"""Several reviews are selected and ruled by keys alone."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Page, expect

from accounts.models import Project
from reviews.models import Review
from tests.browser.test_accessibility import violations
from tests.reviews.floods import ask_to_run
from tests.support.builders import Person, pause_at_once, start_run

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


def test_keys_that_rule_act_on_the_selection(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    pause = pause_at_once(agent, start_run(agent))
    calls = [ask_to_run(agent, f"rm -rf {'x ' * count}build") for count in range(3)]
    page = queue_of(alice, project.slug, f"{calls[0]}/")
    bar, dialog = page.locator("#selection"), page.locator("#selection-dialog")
    dock_key = page.locator("#dock button[value=approve] kbd")
    expect(dock_key).to_be_visible()
    page.locator("#detail h1").click()
    page.keyboard.press("x")  # wherever the focus is
    expect(bar).to_contain_text("1 selected")
    expect(bar).to_contain_text("Keys act on these")
    expect(bar.get_by_role("button", name="Approve 1")).to_have_attribute(
        "aria-keyshortcuts", "A"
    )
    expect(dock_key).to_be_hidden()
    assert violations(page) == ""
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.keyboard.press("j")
    expect(page.locator("#detail")).to_have_attribute("data-code", calls[2])
    page.keyboard.press("a")
    expect(dialog).to_contain_text("Approve 2 reviews?")
    page.keyboard.press("Escape")
    page.keyboard.press("d")
    expect(dialog).to_contain_text("Deny 2 reviews?")
    page.keyboard.press("Escape")
    page.keyboard.press("b")  # calls are aborted one by one
    expect(page.locator("#toast")).to_contain_text("no choice for what is selected")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("d")
    page.get_by_label("Reason, sent to each agent").fill("Still in use.")
    page.keyboard.press("Control+Enter")
    expect(dialog).to_contain_text("2 denied")
    page.keyboard.press("Escape")
    expect(bar).to_be_hidden()
    expect(dock_key).to_be_visible()
    found = Review.objects.filter(code__in=calls, state="ruled")
    assert {str(each.code) for each in found} == set(calls[:2])
    page.keyboard.press("b")  # nothing is selected: the run of the one on screen
    expect(page.get_by_role("dialog", name="Abort")).to_contain_text("for good")
    assert Review.objects.get(code=pause).state == "open"


def test_a_critical_review_is_not_selected(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    call = ask_to_run(agent, "rm -rf build")
    Review.objects.filter(code=call).update(severity="critical")
    page = queue_of(alice, project.slug, f"{call}/")
    page.keyboard.press("x")
    expect(page.locator("#toast")).to_contain_text("ruled by itself")
    expect(page.locator("#selection")).to_be_hidden()
