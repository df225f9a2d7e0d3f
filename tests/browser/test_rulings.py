"""The page of rulings in a browser: seen by axe, narrow, by keyboard."""

from __future__ import annotations

import httpx
import pytest
from playwright.sync_api import expect

from accounts.models import Project
from tests.browser.conftest import Desk
from tests.browser.test_accessibility import violations
from tests.gateway.calls.calls import command, rule
from tests.support.builders import Person, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def test_the_page_is_readable_for_everybody_at_every_width(
    desk: Desk,
    project: Project,
    alice: Person,
    agent: httpx.Client,
    reviewer: httpx.Client,
) -> None:
    page = desk.open(f"/p/{project.slug}/rulings/", person=alice)
    expect(page.get_by_role("heading", name="Nobody ruled")).to_be_visible()
    assert violations(page) == ""
    run = start_run(agent)
    rule(reviewer, command(agent, run, "rm -rf src"), "deny", note="Not this one.")
    rule(reviewer, command(agent, run, "rm -rf lib"), "approve")
    page.goto(f"/p/{project.slug}/rulings/?severity=high")
    expect(page.locator("[data-ruling]")).to_have_count(2)
    assert violations(page) == ""
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth > innerWidth") is False
    assert violations(page) == ""


def test_the_list_is_searched_and_narrowed_by_keyboard(
    desk: Desk,
    project: Project,
    alice: Person,
    agent: httpx.Client,
    reviewer: httpx.Client,
) -> None:
    run = start_run(agent)
    rule(reviewer, command(agent, run, "rm -rf src"), "deny", note="Not this one.")
    rule(reviewer, command(agent, run, "rm -rf lib"), "approve")
    page = desk.open(f"/p/{project.slug}/rulings/", person=alice)
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Search rulings")).to_be_focused()
    page.keyboard.type("not this")
    page.keyboard.press("Enter")
    expect(page.locator("[data-ruling]")).to_have_count(1)
    page.get_by_role("link", name="Remove the filter Text not this").press("Enter")
    expect(page.locator("[data-ruling]")).to_have_count(2)
    menu = page.locator("details.pick", has_text="Ruling")
    menu.locator("summary").press("Enter")
    menu.get_by_role("link", name="approved").press("Enter")
    expect(page.locator("[data-ruling]")).to_have_count(1)
    expect(page).to_have_url(f"{desk.url}/p/{project.slug}/rulings/?action=approve")
