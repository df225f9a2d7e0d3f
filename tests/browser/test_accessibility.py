"""axe-core finds nothing to complain about, on any page, in light and dark."""

from __future__ import annotations

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from accounts.models import Project
from tests.browser.conftest import Desk, Theme
from tests.builders import Person, pause_run, start_run, step

pytestmark = [
    pytest.mark.browser,
    pytest.mark.parametrize("theme", ["light", "dark"]),
]


def violations(page: Page) -> str:
    found = Axe().run(page)
    return found.generate_report() if found.violations_count else ""


@pytest.mark.parametrize("path", ["/sign-in/", "/nowhere/", "/api/v1/docs"])
def test_pages_for_anybody(desk: Desk, theme: Theme, path: str) -> None:
    page = desk.open(path, theme=theme)
    expect(page.get_by_role("heading").first).to_be_visible()
    assert violations(page) == ""


@pytest.mark.parametrize(
    "path", ["queue/", "queue/?show=mine", "runs/", "permissions/"]
)
def test_empty_pages(
    desk: Desk, theme: Theme, path: str, project: Project, alice: Person
) -> None:
    page = desk.open(f"/p/{project.slug}/{path}", theme=theme, person=alice)
    expect(page.locator(".empty")).to_be_visible()
    assert violations(page) == ""


def test_the_queue_and_every_kind_of_review(
    desk: Desk, theme: Theme, project: Project, alice: Person, agent: httpx.Client
) -> None:
    pause_run(agent, start_run(agent))
    for kind in ("question", "request"):
        agent.post(
            f"/runs/{start_run(agent)}/reviews",
            json={"kind": kind, "title": kind, "detail": "Why", "options": ["a", "b"]},
        )
    page = desk.open(f"/p/{project.slug}/queue/", theme=theme, person=alice)
    rows = page.locator("#queue li a")
    expect(rows).to_have_count(3)
    for index in range(3):
        rows.nth(index).click()
        expect(rows.nth(index)).to_have_attribute("aria-current", "true")
        assert violations(page) == ""
    page.keyboard.press("x")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert violations(page) == ""


def test_a_closed_review(
    desk: Desk, theme: Theme, project: Project, alice: Person, agent: httpx.Client
) -> None:
    review = pause_run(agent, start_run(agent))["review"]["id"]
    path = f"/p/{project.slug}/queue/{review}/"
    page = desk.open(path, theme=theme, person=alice)
    page.get_by_label("Note to the agent").fill("First a note")
    page.get_by_role("button", name="Add note only").click()
    expect(page.locator(".notes")).to_be_visible()
    page.get_by_role("button", name="Approve").click()
    expect(page.locator("#closing")).to_be_visible()
    assert violations(page) == ""


def test_runs(
    desk: Desk, theme: Theme, project: Project, alice: Person, agent: httpx.Client
) -> None:
    finished = start_run(agent)
    agent.post(f"/runs/{finished}/finish", json={"outcome": "completed"})
    stopped = start_run(agent)
    agent.post(f"/runs/{stopped}/steps", json=step(1, coherence=0.1))
    paused = start_run(agent)
    pause_run(agent, paused)
    page = desk.open(f"/p/{project.slug}/runs/", theme=theme, person=alice)
    expect(page.locator("#runs-list tr")).to_have_count(3)
    assert violations(page) == ""
    for run in (stopped, paused):
        page.goto(f"/p/{project.slug}/runs/{run}/")
        expect(page.locator("#timeline")).to_be_visible()
        assert violations(page) == ""


def test_menu_help_and_password(
    desk: Desk, theme: Theme, project: Project, alice: Person
) -> None:
    page = desk.open(f"/p/{project.slug}/queue/", theme=theme, person=alice)
    page.get_by_role("button", name="account").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    assert violations(page) == ""
    page.get_by_role("button", name="Keyboard").click()
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_visible()
    assert violations(page) == ""
    page.goto("/password/")
    assert violations(page) == ""
