"""The cursor moves at once, and nobody rules on what they have left or do not see yet."""

from __future__ import annotations

import re
from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Page, Request, expect

from accounts.models import Project
from reviews.models import Review
from tests.browser.driving.slowness import slow_network
from tests.support.builders import Person, pause_at_once, start_run
from tests.support.people import rule

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")
Open = Callable[..., Page]
TYPING_MS = 60


def open_pauses(agent: httpx.Client, *, count: int) -> list[str]:
    """So many reviews, the longest wait first, each a row of its own."""
    codes = [pause_at_once(agent, start_run(agent)) for _ in range(count)]
    Review.objects.filter(code__in=codes).update(alike_key="")
    return codes


def rulings_sent(page: Page) -> list[str]:
    """The reviews that the page asks to rule on, as it goes along."""
    sent: list[str] = []

    def note(request: Request) -> None:
        if request.method == "POST" and request.url.endswith("/rule/"):
            sent.append(request.url.split("/")[-3])

    page.on("request", note)
    return sent


def states(*codes: str) -> list[str]:
    return [Review.objects.get(code=code).state for code in codes]


def get_selected(page: Page) -> str | None:
    return page.locator("#queue [aria-current]").get_attribute("data-open-row")


@pytest.mark.parametrize("latency", [0, 300])
def test_j_then_a_never_rules_on_the_review_that_was_left(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client, latency: int
) -> None:
    first, second = open_pauses(agent, count=2)
    page = queue_of(alice, project.slug)
    sent = rulings_sent(page)
    with slow_network(page, milliseconds=latency):
        page.keyboard.press("j")
        page.keyboard.press("a")
        page.wait_for_timeout(3 * latency + 300)
    expect(page.locator("#detail")).to_have_attribute("data-code", second)
    assert first not in sent
    assert states(first) == ["open"]


def test_a_key_says_so_while_the_review_is_not_there_yet(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    codes = open_pauses(agent, count=4)
    page = queue_of(alice, project.slug)
    sent = rulings_sent(page)
    with slow_network(page, milliseconds=5_000):
        page.keyboard.press("j")
        page.keyboard.press("j")
        page.keyboard.press("j")
        expect(page.locator("#detail")).to_have_attribute("aria-busy", "true")
        assert page.locator("#dock").evaluate("dock => dock.inert")
        page.keyboard.press("a")
        expect(page.locator("#toast")).to_contain_text("Still loading")
        expect(page.locator("#detail")).to_have_attribute("data-code", codes[3])
    expect(page.locator("#detail")).not_to_have_attribute("aria-busy", "true")
    assert not page.locator("#dock").evaluate("dock => dock.inert")
    assert sent == []
    page.keyboard.press("a")
    expect(page.locator("#closing")).to_contain_text("You approved this")
    assert sent == [codes[3]]
    assert states(*codes) == ["open", "open", "open", "ruled"]


@pytest.mark.parametrize("latency", [0, 300])
def test_three_times_j_moves_three_and_raises_no_alarm(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client, latency: int
) -> None:
    codes = open_pauses(agent, count=6)
    page = queue_of(alice, project.slug)
    with slow_network(page, milliseconds=latency):
        for _ in range(3):
            page.keyboard.press("j", delay=TYPING_MS)
        assert get_selected(page) == codes[3]
        expect(page.locator("#detail")).to_have_attribute("data-code", codes[3])
        for _ in range(2):
            page.keyboard.press("k")
        assert get_selected(page) == codes[1]
        expect(page.locator("#detail")).to_have_attribute("data-code", codes[1])
        page.wait_for_timeout(2 * latency)
    expect(page.locator("#detail")).to_have_attribute("data-code", codes[1])
    expect(page.locator("[data-place]")).to_have_text("2 of 6")
    expect(page.locator("#toast")).to_be_hidden()
    expect(page).to_have_url(re.compile(f"/queue/{codes[1]}/$"))


def test_the_next_review_is_there_before_it_is_asked_for(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    _, second, _ = open_pauses(agent, count=3)
    page = queue_of(alice, project.slug)
    page.wait_for_load_state("networkidle")
    with slow_network(page, milliseconds=20_000):
        page.keyboard.press("j")
        expect(page.locator("#detail")).to_have_attribute(
            "data-code", second, timeout=10_000
        )


def test_an_answer_about_the_review_that_was_left_does_not_take_the_screen(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    first, second, third = open_pauses(agent, count=3)
    page = queue_of(alice, project.slug)
    page.wait_for_load_state("networkidle")
    with slow_network(page, milliseconds=300):
        page.keyboard.press("a")
        page.keyboard.press("j")
        expect(page.locator("#detail")).to_have_attribute("data-code", second)
        expect(page.locator("#toast")).to_contain_text("You approved this")
    expect(page.locator("#detail")).to_have_attribute("data-code", second)
    expect(page.get_by_role("button", name="Approve")).to_be_enabled()
    assert states(first, second, third) == ["ruled", "open", "open"]


def test_what_changed_meanwhile_is_not_shown_from_memory(
    queue_of: Open,
    project: Project,
    alice: Person,
    bob: Person,
    agent: httpx.Client,
    reviewer: httpx.Client,
) -> None:
    _, second = open_pauses(agent, count=2)
    page = queue_of(alice, project.slug)
    page.wait_for_load_state("networkidle")
    reviewer.post(f"/reviews/{second}/claim")
    row = page.locator(f"#review-{second}.taken")
    expect(row).to_be_visible()
    page.keyboard.press("j")
    expect(page.get_by_role("button", name="Take over")).to_be_visible()


def test_a_review_that_cannot_be_loaded_leaves_the_dock_inert(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    first, second = open_pauses(agent, count=2)
    page = queue_of(alice, project.slug)
    page.route(f"**/queue/{second}/", lambda route: route.fulfill(status=418))
    page.reload()
    sent = rulings_sent(page)
    page.keyboard.press("j")
    expect(page.locator("#toast")).to_contain_text("could not be loaded")
    page.keyboard.press("a")
    expect(page.locator("#toast")).to_contain_text("Still loading")
    page.unroute(f"**/queue/{second}/")
    page.locator(f"#review-{second} a").click()
    expect(page.locator("#detail")).to_have_attribute("data-code", second)
    page.keyboard.press("k")
    expect(page.locator("#detail")).to_have_attribute("data-code", first)
    assert sent == []


def test_a_review_that_is_ruled_on_while_it_loads_leaves_its_place_behind(
    queue_of: Open,
    project: Project,
    alice: Person,
    agent: httpx.Client,
    reviewer: httpx.Client,
) -> None:
    codes = open_pauses(agent, count=6)
    page = queue_of(alice, project.slug)
    with slow_network(page, milliseconds=600):
        for _ in range(3):
            page.keyboard.press("j")
        rule(reviewer, codes[3], "approve")
        expect(page.locator(f"#review-{codes[3]}")).to_have_attribute("data-gone", "")
        page.keyboard.press("j")
        assert get_selected(page) == codes[4]
        page.keyboard.press("k")
        assert get_selected(page) == codes[2]
        expect(page.locator("#detail")).to_have_attribute("data-code", codes[2])
