"""Times are absolute in the viewer's zone, with UTC on hover, beside the relative ones."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import CDPSession, Locator, Page, expect

from accounts.models import Project
from tests.browser.conftest import Desk
from tests.loop.history import live_through
from tests.support.builders import Person, Robot, pause_run, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")
ZONE = "Asia/Tehran"  # half an hour off all others


@pytest.fixture
def abroad(desk: Desk) -> Iterator[list[CDPSession]]:
    sessions: list[CDPSession] = []
    yield sessions
    for session in sessions:
        session.send("Emulation.setTimezoneOverride", {"timezoneId": ""})


def open_page(desk: Desk, path: str, person: Person, abroad: list[CDPSession]) -> Page:
    page = desk.open("/healthz", person=person)
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setTimezoneOverride", {"timezoneId": ZONE})
    abroad.append(session)
    page.goto(path)
    return page


def is_local_and_says_utc(time: Locator) -> None:
    """Half an hour off UTC, which it says on hover."""
    expect(time).to_have_text(re.compile(r"^\d{1,2} \w{3,4},? \d\d:\d\d:\d\d$"))
    expect(time).to_have_attribute(
        "title", re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$")
    )
    shown = re.findall(r"(\d\d):(\d\d):(\d\d)$", time.inner_text())[0]
    utc = re.findall(r"(\d\d):(\d\d):(\d\d) UTC$", time.get_attribute("title") or "")[0]
    local = int(shown[0]) * 60 + int(shown[1])
    assert (local - int(utc[0]) * 60 - int(utc[1])) % (24 * 60) == 3 * 60 + 30
    assert shown[2] == utc[2]


def test_a_timeline_tells_when_it_was(
    desk: Desk,
    project: Project,
    alice: Person,
    agent: httpx.Client,
    abroad: list[CDPSession],
) -> None:
    run = start_run(agent)
    page = open_page(desk, f"/p/{project.slug}/runs/{run}/", alice, abroad)
    expect(page.locator("#conn")).to_have_attribute("data-state", "live")
    expect(page.get_by_text("times in Tehran")).to_be_visible()
    is_local_and_says_utc(page.locator("#timeline li").first.locator("time[data-at]"))
    review = pause_run(agent, run)["review"]["id"]
    expect(page.locator("#run-bar")).to_contain_text("Paused")
    # A row that came by the socket, too.
    is_local_and_says_utc(page.locator("#timeline li").first.locator("time[data-at]"))
    relative = page.locator("#run-head time[data-tick]").first
    expect(relative).to_have_text(re.compile("ago|just now"))
    expect(relative).to_have_attribute("title", re.compile(r" UTC$"))
    page.goto(f"/p/{project.slug}/queue/{review}/")
    history = page.get_by_role("region", name="History")
    is_local_and_says_utc(history.locator("time[data-at]").first)
    # On a phone, too, an absolute time has its zone beside it.
    page.set_viewport_size({"width": 390, "height": 780})
    expect(history.get_by_text("times in Tehran")).to_be_visible()
    page.goto(f"/p/{project.slug}/runs/{run}/")
    expect(page.get_by_text("times in Tehran")).to_be_visible()


def test_the_loop_tells_when_it_decided(
    desk: Desk,
    project: Project,
    alice: Person,
    robo: Robot,
    abroad: list[CDPSession],
) -> None:
    live_through(project, robo, alice)
    page = open_page(desk, f"/p/{project.slug}/loop/", alice, abroad)
    is_local_and_says_utc(page.locator("time[data-at]").first)


def test_without_a_script_times_say_that_they_are_utc(
    desk: Desk, project: Project, alice: Person, agent: httpx.Client
) -> None:
    run = start_run(agent)
    path = f"/p/{project.slug}/runs/{run}/"
    page = desk.open(path, person=alice, scripts=False)
    time = page.locator("#timeline time[data-at]").first
    expect(time).to_have_text(re.compile(r"\d\d:\d\d:\d\d UTC$"))
