"""The page of standing permissions: live, by keyboard, on a small screen, unscripted."""

from __future__ import annotations

import httpx
import pytest
from playwright.sync_api import Page, expect

from accounts.models import Project
from tests.browser.conftest import Desk
from tests.browser.test_accessibility import violations
from tests.gateway.calls.calls import command, rule, tool
from tests.support.builders import Person, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def remember(agent: httpx.Client, reviewer: httpx.Client) -> None:
    """One of a shape with an odd letter in it, one for arguments, one that ended."""
    run = start_run(agent)
    shape = command(agent, run, "rm -rf build-1 /srv/\u0430dmin")
    rule(reviewer, shape, "approve", remember={"scope": "shape", "uses": 5})
    query = tool(agent, run, "mcp__db__query", sql="DELETE FROM sessions")
    rule(reviewer, query, "approve", remember={"scope": "exact"})
    once = command(agent, run, "rm -rf once")
    rule(reviewer, once, "approve", remember={"scope": "exact", "uses": 1})
    command(agent, run, "rm -rf once")


def open_page(desk: Desk, project: Project, person: Person) -> Page:
    page = desk.open(f"/p/{project.slug}/permissions/", person=person)
    expect(page.locator("#conn")).to_have_attribute("data-state", "live")
    return page


def test_axe_finds_nothing(
    desk: Desk,
    project: Project,
    alice: Person,
    agent: httpx.Client,
    reviewer: httpx.Client,
) -> None:
    remember(agent, reviewer)
    page = open_page(desk, project, alice)
    expect(page.locator(".permission")).to_have_count(3)
    assert violations(page) == ""
    page.get_by_role("button", name="Revoke").first.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert violations(page) == ""


def test_uses_arrive_and_it_is_revoked_by_keyboard(
    desk: Desk,
    project: Project,
    bob: Person,
    agent: httpx.Client,
    reviewer: httpx.Client,
) -> None:
    page = open_page(desk, project, bob)
    expect(page.get_by_text("No standing permissions")).to_be_visible()
    remember(agent, reviewer)
    row = page.locator(".permission", has_text="build-")
    expect(row).to_contain_text("0 of 5")
    command(agent, start_run(agent), "rm -rf build-2 /srv/\u0430dmin")
    expect(row).to_contain_text("1 of 5")
    row.get_by_role("button", name="Revoke").focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Revoke this permission?")
    expect(dialog.get_by_role("button", name="Keep it")).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    ended = page.locator(".permission.ended", has_text="build-")
    expect(ended).to_contain_text(bob.user.username)


def test_it_fits_a_small_screen_and_needs_no_script(
    desk: Desk,
    project: Project,
    alice: Person,
    agent: httpx.Client,
    reviewer: httpx.Client,
) -> None:
    remember(agent, reviewer)
    path = f"/p/{project.slug}/permissions/"
    page = desk.open(path, person=alice, size=(390, 844), scripts=False)
    expect(page.locator(".permission")).to_have_count(3)
    assert page.locator("#permissions").evaluate(
        "it => it.scrollWidth <= it.clientWidth"
    )
    page.get_by_role("button", name="Revoke").first.click()
    expect(page.locator(".permission.ended")).to_have_count(2)
