"""axe-core finds nothing to complain about, on any page, in light and dark."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from axe_playwright_python.base import AxeResults
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from accounts.models import Agent, Project
from ledger.statistics.counting import count_project
from tests.browser.conftest import Desk
from tests.gateway.calls.calls import command, rule
from tests.support.builders import Person, pause_run, start_run, step

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")
AXE = Axe()
COLOURS = ["color-contrast", "link-in-text-block"]


def violations(page: Page, *, coloured: str = "html") -> str:
    """All rules in light, and in dark those on colours: nothing but colours differs.

    Colours are the dear ones. A long page may name the part that has all of them.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.axe_script)
    page.emulate_media(color_scheme="dark")
    dark = _describe_violations(page, coloured, runOnly=COLOURS)
    page.emulate_media(color_scheme="light")
    if coloured == "html":
        return dark + _describe_violations(page, "html")
    others = {rule: {"enabled": False} for rule in COLOURS}
    light = _describe_violations(page, coloured, runOnly=COLOURS)
    return dark + light + _describe_violations(page, "html", rules=others)


def _describe_violations(page: Page, where: str, **options: Any) -> str:
    options["resultTypes"] = ["violations"]
    found = AxeResults(page.evaluate("it => axe.run(...it)", [where, options]))
    return found.generate_report() if found.violations_count else ""


def test_pages_for_anybody(desk: Desk) -> None:
    page = desk.open("/")
    for path in ("/sign-in/", "/nowhere/"):
        page.goto(path)
        expect(page.get_by_role("heading").first).to_be_visible()
        assert violations(page) == "", path


# Leaves the first operations that have, between them, every element and every class there
# is. What only the whole page can have wrong, an id twice, is returned.
KEEP_SHAPES = """() => {
    const ids = [...document.querySelectorAll("[id]")].map(element => element.id)
    const twice = ids.filter((id, place) => ids.indexOf(id) !== place)
    const seen = new Set()
    for (const article of document.querySelectorAll("article")) {
        for (const element of [article, ...article.querySelectorAll("*")]) {
            const shape = `${element.tagName} ${element.className}`
            if (!seen.has(shape)) article.dataset.shape = ""
            seen.add(shape)
        }
    }
    document.querySelectorAll("article:not([data-shape])").forEach(it => it.remove())
    return twice
}"""


def test_the_page_of_the_api(desk: Desk) -> None:
    """One operation of each shape is enough: they come out of one template."""
    page = desk.open("/api/v1/docs")
    expect(page.get_by_role("heading").first).to_be_visible()
    before = page.locator("article").count()
    assert page.evaluate(KEEP_SHAPES) == []
    assert 3 < page.locator("article").count() < before
    assert violations(page) == ""


def test_empty_pages(desk: Desk, project: Project, alice: Person) -> None:
    page = desk.open("/", person=alice)
    for path in ("queue/", "queue/?show=mine", "runs/", "permissions/"):
        page.goto(f"/p/{project.slug}/{path}")
        expect(page.locator(".empty")).to_be_visible()
        assert violations(page) == "", path


def test_the_queue_and_every_kind_of_review(
    desk: Desk, project: Project, alice: Person, agent: httpx.Client
) -> None:
    pause_run(agent, start_run(agent))
    for kind in ("question", "request"):
        agent.post(
            f"/runs/{start_run(agent)}/reviews",
            json={"kind": kind, "title": kind, "detail": "Why", "options": ["a", "b"]},
        )
    page = desk.open(f"/p/{project.slug}/queue/", person=alice)
    rows = page.locator("#queue li a")
    expect(rows).to_have_count(3)
    for index in range(3):
        rows.nth(index).click()
        expect(rows.nth(index)).to_have_attribute("aria-current", "true")
        assert violations(page) == ""
    for key in ("b", "?"):
        page.keyboard.press(key)
        expect(page.get_by_role("dialog")).to_be_visible()
        assert violations(page) == ""
        page.keyboard.press("Escape")


def test_a_closed_review(
    desk: Desk, project: Project, alice: Person, agent: httpx.Client
) -> None:
    review = pause_run(agent, start_run(agent))["review"]["id"]
    path = f"/p/{project.slug}/queue/{review}/"
    page = desk.open(path, person=alice)
    page.get_by_label("Note to the agent").fill("First a note")
    page.get_by_role("button", name="Add note only").click()
    expect(page.locator(".notes")).to_be_visible()
    page.get_by_role("button", name="Approve").click()
    expect(page.locator("#closing")).to_be_visible()
    assert violations(page) == ""


def test_runs(desk: Desk, project: Project, alice: Person, agent: httpx.Client) -> None:
    finished = start_run(agent)
    agent.post(f"/runs/{finished}/finish", json={"outcome": "completed"})
    stopped = start_run(agent)
    agent.post(f"/runs/{stopped}/steps", json=step(1, coherence=0.1))
    paused = start_run(agent)
    pause_run(agent, paused)
    page = desk.open(f"/p/{project.slug}/runs/", person=alice)
    expect(page.locator("#runs-list tr")).to_have_count(3)
    assert violations(page) == ""
    for run in (stopped, paused):
        page.goto(f"/p/{project.slug}/runs/{run}/")
        expect(page.locator("#timeline")).to_be_visible()
        assert violations(page) == ""


def test_the_overview(
    desk: Desk,
    project: Project,
    bob: Person,
    agent: httpx.Client,
    reviewer: httpx.Client,
) -> None:
    page = desk.open(f"/p/{project.slug}/overview/", person=bob)
    expect(page.locator(".empty")).to_be_visible()
    assert violations(page) == ""
    stopped = start_run(agent)
    body = step(1, coherence=0.1, cost_usd="1.5")
    agent.post(f"/runs/{stopped}/steps", json=body)
    rule(reviewer, command(agent, start_run(agent)), "approve")
    count_project(project_id=project.pk)
    page.goto(f"/p/{project.slug}/overview/")
    expect(page.locator("svg.plot")).to_have_count(3)
    assert violations(page) == ""


def test_what_managers_set_and_look_after(
    desk: Desk, project: Project, cleo: Person, agent: httpx.Client
) -> None:
    pause_run(agent, start_run(agent))
    page = desk.open("/", person=cleo)
    agents = f"settings/agents/?agent={Agent.objects.get(project=project).code}"
    settings = ("start", "project", "people", "changes", "you")
    for path in (
        *("rulings/", "limits/", "ledger/", "policies/", "webhooks/", "gateway/"),
        *(f"settings/{tab}/" for tab in settings),
        agents,
    ):
        page.goto(f"/p/{project.slug}/{path}")
        expect(page.get_by_role("heading").first).to_be_visible()
        assert violations(page, coloured="main") == "", path


def test_menu_help_and_password(desk: Desk, project: Project, alice: Person) -> None:
    page = desk.open(f"/p/{project.slug}/queue/", person=alice)
    page.get_by_role("button", name="account").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    assert violations(page) == ""
    page.get_by_role("button", name="Keyboard").click()
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_visible()
    assert violations(page) == ""
    page.goto("/password/")
    assert violations(page) == ""
