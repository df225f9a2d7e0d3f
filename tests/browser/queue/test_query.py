"""The query box, the order and what is past due, in a browser while others work."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import httpx
import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.models import Project
from console.models import SavedView
from reviews.models import Review
from reviews.queue.order import PAGE
from tests.browser.driving.rows import expect_rows
from tests.browser.test_accessibility import violations
from tests.reviews.floods import ask_to_run, open_many
from tests.support.builders import Person, pause_at_once, start_run
from tests.support.people import rule

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")
Open = Callable[..., Page]


def test_a_query_is_typed_kept_in_the_address_and_stays_live(
    queue_of: Open,
    project: Project,
    alice: Person,
    agent: httpx.Client,
    reviewer: httpx.Client,
) -> None:
    calls = [ask_to_run(agent, f"rm -rf build-{number}") for number in range(2)]
    pause_at_once(agent, start_run(agent))
    page = queue_of(alice, project.slug)
    expect(page.locator("#queue li")).to_have_count(3)
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("severity:high")
    page.keyboard.press("Enter")
    expect(page.locator("#queue li")).to_have_count(2)
    expect(page.locator(".pill")).to_contain_text("high")
    expect(page.locator("[data-count=total]")).to_have_text("3")
    expect(page.locator("#conn")).to_have_attribute("data-state", "live")
    page.keyboard.press("j")
    expect(page.locator("#detail")).to_have_attribute("data-code", calls[1])
    expect(page).to_have_url(re.compile(rf"{calls[1]}/\?q=severity%3Ahigh$"))
    # What fits is taken in, what does not is not; each number is that of its list.
    pause_at_once(agent, start_run(agent))
    third = ask_to_run(agent, "rm -rf build-3")
    expect(page.locator(f"#review-{third}")).to_be_visible()
    expect(page.get_by_role("link", name="All 3")).to_be_visible()
    expect(page.locator("[data-count=total]")).to_have_text("5")
    expect_rows(page, [*calls, third])
    rule(reviewer, third, "deny")
    expect(page.get_by_role("link", name="All 2")).to_be_visible()
    expect_rows(page, calls)
    page.reload()
    expect(page.locator("#queue li")).to_have_count(2)
    page.get_by_role("link", name="Remove Severity high").click()
    expect(page.locator("#queue li")).to_have_count(4)


def test_the_list_follows_what_is_typed(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    calls = [ask_to_run(agent, f"rm -rf {name}") for name in ("alpha", "beta")]
    page = queue_of(alice, project.slug, f"{calls[1]}/")
    page.keyboard.press("/")
    page.keyboard.type("alpha")
    expect_rows(page, calls[:1])
    box = page.get_by_role("searchbox")
    expect(box).to_be_focused()
    expect(box).to_have_value("alpha")
    expect(page.locator(".pill")).to_contain_text("alpha")
    expect(page.locator("#detail")).to_have_attribute("data-code", calls[1])
    expect(page).to_have_url(re.compile(rf"{calls[1]}/\?q=alpha$"))
    # What comes meanwhile is judged by the query on screen.
    third = ask_to_run(agent, "rm -rf alpha/c")
    ask_to_run(agent, "rm -rf gamma")
    expect(page.locator(f"#review-{third}")).to_be_visible()
    expect_rows(page, [calls[0], third])
    assert violations(page) == ""
    page.keyboard.press("Enter")
    expect(page.locator("#queue [data-open-row]").first).to_be_focused()
    page.keyboard.press("x")
    expect(page.locator("#selection")).to_contain_text("1 selected")
    page.keyboard.press("Escape")
    box.fill("severity:")
    expect(page.get_by_role("alert")).to_contain_text("It takes critical, high")
    box.fill("nothing at all")
    expect(page.get_by_text("No review matches")).to_be_visible()
    box.fill("")
    expect(page.locator("#queue li")).to_have_count(4)
    expect(page).to_have_url(re.compile(rf"{calls[1]}/$"))
    expect(page.locator(".pill")).to_have_count(0)


def test_what_was_entered_is_not_asked_again_as_typed(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    calls = [ask_to_run(agent, f"rm -rf {name}") for name in ("alpha", "beta")]
    page = queue_of(alice, project.slug)
    asked: list[str] = []
    page.on("request", lambda sent: asked.append(sent.url))
    box = page.get_by_role("searchbox")
    for word, call in zip(("alpha", "beta"), calls, strict=True):
        box.fill(word)
        asked.clear()
        box.press("Enter")
        expect_rows(page, [call])
        page.wait_for_timeout(600)  # longer than the pause after a letter
        assert len([url for url in asked if "typed=1" in url]) == 1
    # The same word, after the list was another one.
    page.locator(".pill a").click()
    expect_rows(page, calls)
    box.fill("beta")
    expect_rows(page, calls[1:])


def test_the_list_is_narrowed_by_what_is_there(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    call = ask_to_run(agent, "rm -rf alpha")
    pause = pause_at_once(agent, start_run(agent))
    page = queue_of(alice, project.slug)
    page.locator(".pick summary", has_text="Severity").click()
    assert violations(page) == ""
    page.get_by_role("link", name="medium", exact=True).click()
    expect_rows(page, [pause])
    expect(page.locator(".pill")).to_contain_text("medium")
    page.locator(".pick summary", has_text="Severity").click()
    page.get_by_role("link", name="high", exact=True).click()
    expect(page.locator("#queue li")).to_have_count(2)
    page.locator(".pick summary", has_text="Severity").click()
    page.get_by_role("link", name="medium", exact=True).click()
    expect_rows(page, [call])
    page.locator(".pick summary", has_text="Agent").click()
    page.get_by_role("link", name="robo", exact=True).click()
    expect(page.get_by_role("searchbox")).to_have_value("severity:high agent:robo")
    page.get_by_role("link", name="Clear", exact=True).click()
    expect(page.locator("#queue li")).to_have_count(2)


def test_enter_saves_a_view_and_it_is_the_only_tab_marked(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    ask_to_run(agent, "rm -rf alpha")
    page = queue_of(alice, project.slug, "?q=severity:high")
    page.get_by_label("Order: Risky first").click()
    name = page.get_by_label("Name", exact=True)
    name.fill(" ")
    name.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Give the view a name")
    name.fill("High ones")
    name.press("Enter")
    tab = page.get_by_role("link", name="High ones")
    expect(tab).to_have_attribute("aria-current", "page")
    expect(tab).to_be_in_viewport(ratio=1)
    expect(page.locator("#queue-filters [aria-current]")).to_have_count(1)
    assert SavedView.objects.get(project=project).name == "High ones"


def test_a_long_list_under_a_query_is_read_to_its_end(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    codes = open_many(agent, project, count=PAGE + 30)
    ask_to_run(agent, "rm -rf build")
    page = queue_of(alice, project.slug, "?q=kind:pause")
    expect_rows(page, codes[:PAGE])
    expect(page.locator("#queue-after")).to_have_text("30 more")
    page.locator("#queue-after").scroll_into_view_if_needed()
    expect(page.locator("#queue li")).to_have_count(PAGE + 30)
    expect_rows(page, codes)


def test_an_order_is_chosen_and_a_new_row_takes_its_place_in_it(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    pause = pause_at_once(agent, start_run(agent))
    call = ask_to_run(agent, "rm -rf build")
    page = queue_of(alice, project.slug)
    expect(page.locator("#queue li")).to_have_count(2)
    expect_rows(page, [call, pause])
    page.get_by_label("Order: Risky first").click()
    page.get_by_role("link", name="Oldest first").click()
    expect(page.get_by_label("Order: Oldest first")).to_be_visible()
    expect_rows(page, [pause, call])
    expect(page.locator("#conn")).to_have_attribute("data-state", "live")
    newest = ask_to_run(agent, "dropdb production")
    expect(page.locator(f"#review-{newest}")).to_be_visible()
    expect_rows(page, [pause, call, newest])


def test_what_becomes_late_by_the_clock_alone_is_listed_as_late(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    review = pause_at_once(agent, start_run(agent))
    soon = timezone.now() + timedelta(seconds=10)
    Review.objects.filter(code=review).update(answer_by=soon)
    page = queue_of(alice, project.slug, "?show=overdue")
    expect(page.get_by_text("Nothing is past due")).to_be_visible()
    expect(page.locator(f"#review-{review} .late")).to_be_visible(timeout=60_000)
    expect(page.get_by_role("link", name="Past due 1")).to_be_visible()
