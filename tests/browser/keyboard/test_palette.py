"""The command palette, by keyboard alone."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Page, expect

from accounts.models import Project
from reviews.models import Ruling
from tests.browser.test_accessibility import violations
from tests.support.builders import Person, pause_run, start_run
from tests.support.people import get_seen

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")
Open = Callable[..., Page]


def test_a_run_a_page_and_an_action_are_reached_by_keys(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    run = start_run(agent, task="Move the tax rates")
    review = pause_run(agent, run)["review"]["id"]
    page = queue_of(alice, project.slug)
    page.keyboard.press("ControlOrMeta+k")
    palette = page.get_by_role("dialog", name="Search and commands")
    field = palette.get_by_role("combobox")
    expect(field).to_be_focused()
    page.keyboard.type("tax")
    found = palette.locator(f"[href$='/runs/{run}/']")
    expect(found).to_be_visible()
    assert violations(page) == ""
    page.keyboard.press("End")
    expect(found).to_have_attribute("aria-selected", "true")
    assert field.get_attribute("aria-activedescendant") == found.get_attribute("id")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/runs/{run}/")
    expect(page.locator("#conn")).to_have_attribute("data-state", "live")
    page.keyboard.press("ControlOrMeta+k")
    page.keyboard.type("review q")
    expect(palette.get_by_role("option", name="Review queue")).to_be_visible()
    page.keyboard.press("Enter")
    page.wait_for_url("**/queue/")
    expect(page.locator("#detail")).to_have_attribute("data-code", review)
    page.keyboard.press("ControlOrMeta+k")
    page.keyboard.type("appro")
    expect(palette.get_by_role("option")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator("#closing")).to_contain_text("You approved this")
    assert Ruling.objects.get(review__code=review).by == alice.user
    page.keyboard.press("ControlOrMeta+k")
    page.keyboard.type("zzz")
    expect(palette.get_by_text("Nothing has these words")).to_be_visible()
    assert violations(page) == ""


def test_an_action_is_not_done_to_a_review_that_changed_meanwhile(
    queue_of: Open,
    project: Project,
    alice: Person,
    agent: httpx.Client,
    reviewer: httpx.Client,
) -> None:
    review = pause_run(agent, start_run(agent))["review"]["id"]
    page = queue_of(alice, project.slug)
    page.keyboard.press("ControlOrMeta+k")
    page.keyboard.type("appro")
    body = {"action": "abort", **get_seen(reviewer, review)}
    reviewer.post(f"/reviews/{review}/ruling", json=body)
    expect(page.locator("#nav-queue-count")).to_have_text("0")
    expect(page.locator("#closing")).to_be_attached()
    page.keyboard.press("Enter")
    expect(page.locator("#toast")).to_contain_text("Nothing was sent")
    assert Ruling.objects.get(review__code=review).action == "abort"


def test_an_action_is_done_to_the_same_review_that_was_drawn_again_meanwhile(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    review = pause_run(agent, start_run(agent))["review"]["id"]
    page = queue_of(alice, project.slug)
    page.keyboard.press("ControlOrMeta+k")
    page.keyboard.type("appro")
    page.locator("#dock").evaluate("dock => dock.replaceWith(dock.cloneNode(true))")
    page.keyboard.press("Enter")
    expect(page.locator("#closing")).to_contain_text("You approved this")
    assert Ruling.objects.get(review__code=review).by == alice.user
