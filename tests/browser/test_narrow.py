"""One pane at a time on a small screen, and nothing that scrolls sideways."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Page, expect

from accounts.models import Project
from tests.browser.conftest import Desk
from tests.support.builders import Person, pause_run, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")
PHONE = (390, 844)
SIZES = ((1440, 960), (1000, 800), PHONE)


def fits(page: Page) -> bool:
    wide: bool = page.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
    return wide


def test_the_list_leads_to_the_review_and_back(
    queue_of: Callable[..., Page],
    project: Project,
    alice: Person,
    agent: httpx.Client,
) -> None:
    pause_run(agent, start_run(agent))
    page = queue_of(alice, project.slug, size=PHONE)
    expect(page.get_by_role("heading", name="Review queue")).to_be_visible()
    expect(page.locator("#detail")).to_be_hidden()
    page.locator("#queue li a").click()
    expect(page.get_by_role("button", name="Approve")).to_be_in_viewport()
    expect(page.locator("#queue")).to_be_hidden()
    assert fits(page)
    page.get_by_role("link", name="Back to the queue").click()
    expect(page.locator("#queue li")).to_be_visible()


def test_runs_fit(
    desk: Desk, project: Project, alice: Person, agent: httpx.Client
) -> None:
    run = start_run(agent, task="A task with a long name " * 8)
    pause_run(agent, run)
    page = desk.open(f"/p/{project.slug}/runs/", person=alice, size=PHONE)
    expect(page.locator(f"#run-{run}")).to_be_visible()
    assert fits(page)
    page.locator(f"#run-{run} a").click()
    expect(page.locator("#timeline")).to_be_visible()
    assert fits(page)


def test_every_page_is_reached_from_the_foot_of_the_screen(
    desk: Desk, project: Project, alice: Person
) -> None:
    page = desk.open(f"/p/{project.slug}/runs/", person=alice, size=PHONE)
    main = page.get_by_role("navigation", name="Main")
    for words in ("Review queue", "Overview", "Runs", "Rulings"):
        expect(main.get_by_text(words, exact=True)).to_be_in_viewport(ratio=1)
    expect(main.get_by_role("link", name="Settings")).to_be_hidden()
    main.get_by_role("button", name="More").click()
    main.get_by_role("link", name="Settings").click()
    expect(page.get_by_role("heading", name="Settings")).to_be_visible()
    page.goto(f"/p/{project.slug}/settings/you/")
    expect(page.get_by_role("link", name="You", exact=True)).to_be_in_viewport(ratio=1)
    assert fits(page)
    page.set_viewport_size({"width": 1440, "height": 960})
    for words in ("Govern", "Project", "Settings"):
        expect(main.get_by_text(words, exact=True)).to_be_visible()
    expect(main.get_by_role("button", name="More")).to_be_hidden()


def test_paper_is_white_and_has_no_navigation(
    desk: Desk, project: Project, alice: Person, agent: httpx.Client
) -> None:
    run = start_run(agent)
    pause_run(agent, run)
    page = desk.open("/", person=alice)
    page.set_viewport_size({"width": 720, "height": 1020})
    for path in ("runs/", f"runs/{run}/", "rulings/", "settings/people/", "ledger/"):
        page.goto(f"/p/{project.slug}/{path}")
        # Of this document: what was set before it may be lost on the way.
        page.emulate_media(media="print", color_scheme="dark")
        expect(page.get_by_role("navigation", name="Main")).to_be_hidden()
        expect(page.get_by_text("printed by")).to_be_visible()
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert colour == "rgb(255, 255, 255)", path
        assert fits(page), path
