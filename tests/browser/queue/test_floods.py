"""An agent floods the queue: one item appears by itself, and one act empties it."""

from __future__ import annotations

import httpx
import pytest
from playwright.sync_api import expect

from accounts.models import Project
from reviews.models import Review
from tests.browser.conftest import Desk
from tests.browser.test_accessibility import violations
from tests.gateway.calls.calls import command
from tests.support.builders import Person, make_policy, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")
CAP = 5


def test_a_flood_is_seen_as_one_item_and_closed_by_keyboard(
    desk: Desk, project: Project, alice: Person, agent: httpx.Client
) -> None:
    make_policy("default", project=project, caps={"open_reviews": {"agent": CAP}})
    page = desk.open(f"/p/{project.slug}/queue/", person=alice)
    expect(page.locator("#conn")).to_have_attribute("data-state", "live")
    item = page.locator("#floods li")
    expect(item).to_have_count(0)

    for _ in range(CAP):
        command(agent, start_run(agent))

    expect(item).to_contain_text(f"robo has {CAP} open reviews")
    expect(item).to_contain_text("calls that need a person are blocked")
    assert violations(page) == ""
    page.get_by_role("link", name=f"Close all {CAP}…").press("Enter")
    expect(page.get_by_role("heading", name="Open reviews of robo")).to_be_visible()
    assert violations(page) == ""
    expect(page.locator(".closing-rows .what")).to_have_count(CAP)
    # Without a reason nothing is asked, and nothing is done before it is asked.
    abort = page.get_by_role("button", name="Abort all these runs")
    abort.click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_have_count(0)
    reason = page.get_by_label("Reason")
    expect(reason).to_be_focused()
    reason.fill("A loop gone wild")
    abort.click()
    expect(dialog).to_contain_text("for good")
    assert violations(page) == ""
    page.keyboard.press("Escape")
    assert Review.objects.filter(project=project, state="open").count() == CAP
    reason.focus()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Deny all")).to_be_focused()
    page.keyboard.press("Enter")

    expect(page.get_by_role("status").filter(has_text="closed")).to_have_text(
        f"{CAP} reviews closed."
    )
    assert violations(page) == ""
    assert not Review.objects.filter(project=project, state="open").exists()


def test_it_fits_a_narrow_screen(
    desk: Desk, project: Project, alice: Person, agent: httpx.Client
) -> None:
    make_policy("default", project=project, caps={"open_reviews": {"agent": CAP}})
    for _ in range(CAP):
        command(agent, start_run(agent))
    page = desk.open(f"/p/{project.slug}/queue/", person=alice, size=(390, 780))

    expect(page.locator("#floods li")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("link", name=f"Close all {CAP}…").click()
    expect(page.get_by_role("button", name="Deny all")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
