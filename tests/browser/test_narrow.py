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
