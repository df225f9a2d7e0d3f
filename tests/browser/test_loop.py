"""The pages of the loop in a browser: seen by axe, narrow, by keyboard, live."""

from __future__ import annotations

import httpx
import pytest
from playwright.sync_api import Page, expect

from accounts.models import Project
from loop.control.clock import run_cycle
from loop.models import ProjectLoop
from tests.browser.conftest import Desk
from tests.browser.test_accessibility import violations
from tests.loop.history import live_through
from tests.loop.inbox.test_adopting import LOOSER, STRICTER, adopt, recommend
from tests.support.builders import Person, Robot

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def fits(page: Page) -> bool:
    """Nothing sticks out at the side."""
    found: bool = page.locator("#loop > .scroll").evaluate(
        "it => it.scrollWidth <= it.clientWidth"
    )
    return found


def test_axe_finds_nothing_in_light_and_dark_and_nothing_sticks_out(
    desk: Desk, project: Project, alice: Person, robo: Robot
) -> None:
    base = f"/p/{project.slug}/loop/"
    page = desk.open(base, person=alice)
    expect(page.get_by_text("Nothing decided yet")).to_be_visible()
    history = live_through(project, robo, alice)
    for path in (
        *("", "recommendations/", "incidents/", "week/"),
        f"decisions/{history.emitted.code}/",
    ):
        page.set_viewport_size({"width": 1440, "height": 960})
        page.goto(base + path)
        assert violations(page) == "", path
        page.set_viewport_size({"width": 390, "height": 844})
        assert fits(page), path


def test_a_refresh_under_way_does_not_undo_a_filter(
    desk: Desk, project: Project, alice: Person, robo: Robot
) -> None:
    live_through(project, robo, alice)
    page = desk.open(f"/p/{project.slug}/loop/", person=alice)
    expect(page.locator("#conn")).to_have_attribute("data-state", "live")
    address = f"{desk.url}/p/{project.slug}/loop/"
    page.route(address, lambda _: None)  # the refresh gets no answer for now
    with page.expect_request(address):
        run_cycle(project.pk)
    with page.expect_event("requestfailed"):
        page.get_by_label("Outcome").select_option("rate_limited")
    expect(page.locator("[data-open-row]")).to_have_count(1)


def test_paused_filtered_and_walked_by_keyboard_while_updates_come_in(
    desk: Desk, project: Project, alice: Person, robo: Robot
) -> None:
    live_through(project, robo, alice)
    page = desk.open(f"/p/{project.slug}/loop/", person=alice)
    expect(page.locator("#conn")).to_have_attribute("data-state", "live")
    rows = page.locator("[data-open-row]")
    expect(rows).to_have_count(13)
    page.get_by_role("button", name="Pause").focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Pause the loop?")
    dialog.get_by_label("Reason").fill("Fire drill")
    # What is typed stays while the page fetches itself.
    run_cycle(project.pk)
    expect(rows).to_have_count(14)
    expect(dialog.get_by_label("Reason")).to_have_value("Fire drill")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#loop .notice")).to_contain_text("Fire drill")
    assert ProjectLoop.objects.get(project=project).paused_reason == "Fire drill"

    page.get_by_label("Outcome").select_option("rate_limited")
    expect(rows).to_have_count(1)
    expect(page).to_have_url(
        f"{desk.url}/p/{project.slug}/loop/?action=&outcome=rate_limited&trigger=&decider="
    )
    page.get_by_label("Outcome").select_option("")
    expect(rows).to_have_count(14)
    page.locator("body").click(position={"x": 5, "y": 5})
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_role("heading", name="Snapshot")).to_be_visible()
    page.go_back()
    expect(rows).to_have_count(14)


def test_without_a_script_it_works_all_the_same(
    desk: Desk, project: Project, alice: Person, robo: Robot
) -> None:
    live_through(project, robo, alice)
    page = desk.open(f"/p/{project.slug}/loop/", person=alice, scripts=False)
    page.get_by_label("Action").select_option("emit_alert")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator("[data-open-row]")).to_have_count(2)
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("Paused by alice")).to_be_visible()
    page.get_by_role("button", name="Resume").click()
    page.get_by_role("link", name="Recommendations").click()
    page.get_by_role("button", name="Adopt").click()
    expect(page.get_by_text("Adopted by alice")).to_be_visible()
    page.get_by_role("button", name="Wake now").click()
    expect(page.get_by_role("heading", name="Not decided yet")).to_be_visible()


def test_a_difference_that_moved_is_not_adopted_unseen(
    desk: Desk,
    project: Project,
    alice: Person,
    agent: httpx.Client,
    manager: httpx.Client,
) -> None:
    """Another version comes into force while the dialog is open: it goes away."""
    stays, other = recommend(agent, LOOSER), recommend(agent, STRICTER)
    page = desk.open(f"/p/{project.slug}/loop/recommendations/", person=alice)
    expect(page.locator("#conn")).to_have_attribute("data-state", "live")
    card = page.locator(f"#recommendation-{stays}")
    card.get_by_role("button", name="Adopt").click()
    dialog = page.get_by_role("dialog", name="Adopt this?")
    expect(dialog).to_contain_text("tools.always_ask")

    assert adopt(manager, other, based_on=1).status_code == 200
    activated = manager.post("/policies/default/versions/2/activate", json={})
    assert activated.status_code == 200, activated.text

    expect(dialog).to_have_count(0)
    expect(card.locator(".inside .before")).to_contain_text("git-push-force")
    card.get_by_role("button", name="Adopt").click()
    expect(dialog.locator(".before")).to_contain_text("git-push-force")
    assert violations(page) == ""
    dialog.get_by_role("button", name="Adopt").click()
    expect(page.locator("#loop")).to_contain_text("as default, version 3")
