"""A queue that is longer than its list on screen, while others work on it."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Page, WebSocket, expect

from accounts.models import Project
from console.live import updates
from reviews.queue.order import PAGE
from tests.browser.driving.rows import expect_rows, list_rows
from tests.reviews.floods import ask_to_run, open_many
from tests.support.builders import Person, pause_at_once, start_run
from tests.support.people import rule

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")
Open = Callable[..., Page]
MANY = 2_000
PUSH_LIMIT = 8 * 1024


def test_scrolling_and_j_reach_what_is_beyond_the_edge(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    codes = open_many(agent, project, count=MANY)
    page = queue_of(alice, project.slug)
    expect_rows(page, codes[:PAGE])
    edge = page.locator("#queue-after")
    expect(edge).to_have_text(f"{MANY - PAGE} more")
    edge.scroll_into_view_if_needed()
    rows = page.locator("#queue li")
    expect(rows).to_have_count(2 * PAGE)
    expect_rows(page, codes[: 2 * PAGE])
    page.locator(f"#review-{codes[2 * PAGE - 2]} a").click()
    expect(page.locator("#detail")).to_have_attribute("data-code", codes[2 * PAGE - 2])
    expect(page.locator("[data-place]")).to_have_text(f"{2 * PAGE - 1} of {MANY}")
    page.keyboard.press("j")
    expect(rows).to_have_count(3 * PAGE)
    page.keyboard.press("j")
    expect(page.locator("#detail")).to_have_attribute("data-code", codes[2 * PAGE])
    expect(page.locator("[data-place]")).to_have_text(f"{2 * PAGE + 1} of {MANY}")
    expect_rows(page, codes[: 3 * PAGE])


def test_a_link_leads_to_its_row_and_from_there_up_and_down(
    queue_of: Open,
    project: Project,
    alice: Person,
    agent: httpx.Client,
    reviewer: httpx.Client,
) -> None:
    codes = open_many(agent, project, count=MANY)
    number = 1_234
    page = queue_of(alice, project.slug, f"{codes[number]}/")
    row = page.locator(f"#review-{codes[number]}")
    expect(row).to_be_in_viewport()
    expect(row.locator("a")).to_have_attribute("aria-current", "true")
    expect(page.locator("[data-place]")).to_have_text(f"{number + 1} of {MANY}")
    page.keyboard.press("j")
    expect(page.locator("#detail")).to_have_attribute("data-code", codes[number + 1])
    expect(page.locator("[data-place]")).to_have_text(f"{number + 2} of {MANY}")
    for _ in range(PAGE // 2):
        page.keyboard.press("k")
    expect(page.locator("#detail")).to_have_attribute(
        "data-code", codes[number + 1 - PAGE // 2]
    )
    expect(page.locator("[data-place]")).to_have_text(
        f"{number + 2 - PAGE // 2} of {MANY}"
    )
    on_screen = list_rows(page)
    start = codes.index(on_screen[0])
    assert on_screen == codes[start : start + len(on_screen)]
    # A call comes in at the very top, far above what is listed.
    call = ask_to_run(agent, "rm -rf build")
    expect(page.locator("[data-place]")).to_have_text(
        f"{number + 3 - PAGE // 2} of {MANY + 1}"
    )
    assert call not in list_rows(page)
    rule(reviewer, call, "deny")
    expect(page.locator("[data-place]")).to_have_text(
        f"{number + 2 - PAGE // 2} of {MANY}"
    )


def test_what_is_new_appears_only_where_it_belongs_and_every_number_agrees(
    queue_of: Open,
    project: Project,
    alice: Person,
    bob: Person,
    agent: httpx.Client,
    reviewer: httpx.Client,
) -> None:
    codes = open_many(agent, project, count=MANY)
    page = queue_of(alice, project.slug)
    frames: list[int] = []

    def hear(socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: frames.append(len(frame)))

    page.on("websocket", hear)
    page.reload()
    expect(page.locator("#conn")).to_have_attribute("data-state", "live")
    late = pause_at_once(agent, start_run(agent))
    expect(page.get_by_role("link", name=f"All {MANY + 1}")).to_be_visible()
    assert late not in list_rows(page)
    call = ask_to_run(agent, "rm -rf build")
    expect(page.locator(f"[data-group=high] #review-{call}")).to_be_visible()
    expect_rows(page, [call, *codes[:PAGE]])
    expect(page.locator("[data-count=high]")).to_have_text("1")
    expect(page.locator("[data-count=medium]")).to_have_text(str(MANY + 1))
    expect(page.locator("#nav-queue-count")).to_have_text(str(MANY + 2))
    expect(page.locator("[data-place]")).to_have_text(f"2 of {MANY + 2}")
    # Claimed by somebody else, it stays where it is, and says so.
    reviewer.post(f"/reviews/{call}/claim")
    expect(page.locator(f"#review-{call}.taken")).to_contain_text("has it")
    expect(page.get_by_role("link", name=f"Unclaimed {MANY + 1}")).to_be_visible()
    expect(page.locator("[data-place]")).to_have_text(f"2 of {MANY + 2}")
    reviewer.post(f"/reviews/{call}/release")
    expect(page.locator(f"#review-{call}:not(.taken)")).to_be_visible()
    rule(reviewer, call, "deny")
    expect(page.locator(f"#review-{call}")).to_have_count(0)
    expect(page.get_by_role("link", name=f"All {MANY + 1}")).to_be_visible()
    expect(page.locator("#queue-after")).to_have_text(f"{MANY + 1 - PAGE} more")
    assert frames
    assert max(frames) < PUSH_LIMIT, sorted(frames)


def test_a_filtered_list_takes_in_what_fits_and_lets_go_of_what_does_not(
    queue_of: Open,
    project: Project,
    alice: Person,
    bob: Person,
    agent: httpx.Client,
    manager: httpx.Client,
) -> None:
    codes = open_many(agent, project, count=3 * PAGE, assignees=(bob.user,))
    free = codes[-1]  # made by the agent itself, and claimed by nobody
    page = queue_of(alice, project.slug, "?show=mine")
    expect(page.get_by_text("You have claimed nothing")).to_be_visible()
    manager.post(f"/reviews/{free}/claim")
    expect(page.locator(f"#review-{free}")).to_be_visible()
    expect(page.get_by_role("link", name="Mine 1")).to_be_visible()
    expect(page.locator("[data-count=medium]")).to_have_text("1")
    expect_rows(page, [free])
    manager.post(f"/reviews/{free}/release")
    expect(page.get_by_text("You have claimed nothing")).to_be_visible()
    expect(page.get_by_role("link", name="Unclaimed 1")).to_be_visible()


def test_a_list_that_fell_far_behind_fetches_its_part_anew(
    queue_of: Open,
    project: Project,
    alice: Person,
    agent: httpx.Client,
    manager: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    codes = open_many(agent, project, count=3 * PAGE)
    page = queue_of(alice, project.slug, f"{codes[-1]}/")
    before = list_rows(page)
    monkeypatch.setattr(updates, "ROWS_LIMIT", 0)
    newest = pause_at_once(agent, start_run(agent))
    expect(page.locator(f"#review-{newest}")).to_be_attached()
    expect(page.locator("[data-place]")).to_have_text(f"{3 * PAGE} of {3 * PAGE + 1}")
    assert codes[-1] in list_rows(page)
    assert list_rows(page)[-2:] == [codes[-1], newest]
    assert set(before) - set(list_rows(page)) <= set(codes)
    call = ask_to_run(agent, "rm -rf build")
    expect(page.get_by_role("link", name=f"All {3 * PAGE + 2}")).to_be_visible()
    expect(page.locator("[data-place]")).to_have_text(
        f"{3 * PAGE + 1} of {3 * PAGE + 2}"
    )
    rule(manager, newest, "approve")
    expect(page.locator(f"#review-{newest}")).to_have_count(0)
    assert call not in list_rows(page)


def test_a_list_that_is_fetched_anew_forgets_what_it_was_told_before(
    queue_of: Open,
    project: Project,
    alice: Person,
    agent: httpx.Client,
    manager: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = queue_of(alice, project.slug)
    codes = [pause_at_once(agent, start_run(agent)) for _ in range(3)]
    for code in codes:
        expect(page.locator(f"#review-{code}")).to_be_visible()
    # Too much at once to be told row by row.
    monkeypatch.setattr(updates, "ROWS_LIMIT", 0)
    for code in codes[:2]:
        rule(manager, code, "approve")
        expect(page.locator(f"#review-{code}")).to_have_count(0)
    expect_rows(page, codes[2:])
    expect(page.get_by_role("link", name="All 1", exact=True)).to_be_visible()
    # What is told after that counts again.
    monkeypatch.setattr(updates, "ROWS_LIMIT", 100)
    newest = pause_at_once(agent, start_run(agent))
    expect(page.locator(f"#review-{newest}")).to_be_visible()
    expect_rows(page, [codes[2], newest])
