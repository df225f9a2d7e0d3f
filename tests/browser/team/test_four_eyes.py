"""Two people approve in two browsers: each sees who is asked, the agent hears both."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Page, expect

from accounts.models import Project
from console.models import Preferences
from tests.browser.test_accessibility import violations
from tests.gateway.calls.calls import command
from tests.support.builders import Person, make_policy, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def approve(page: Page, note: str) -> None:
    """What is high takes a second press."""
    page.locator("#dock textarea[name=text]").fill(note)
    button = page.locator("#dock button[value=approve]")
    button.click()
    expect(button).to_have_attribute("data-armed", "Press again to approve")
    button.click()


def test_who_has_approved_cannot_press_again_and_the_agent_reads_both_notes(
    queue_of: Callable[..., Page],
    project: Project,
    alice: Person,
    bob: Person,
    agent: httpx.Client,
) -> None:
    Preferences.objects.filter(user=bob.user).update(takes_back=True)
    make_policy(
        "default", project=project, four_eyes={"approvals": 2, "severity": ["high"]}
    )
    run = start_run(agent)
    review = command(agent, run, "rm -rf build")["review"]["id"]
    first = queue_of(bob, project.slug, f"{review}/")
    second = queue_of(alice, project.slug, f"{review}/")
    expect(first.locator(".reasons")).not_to_contain_text("can be permitted")

    approve(first, "Only the build folder")
    expect(first.locator("#refusal")).to_contain_text("You have approved this already")
    mine = first.locator("#dock button[value=approve]")
    expect(mine).to_be_disabled()
    expect(mine).not_to_have_class("btn primary")
    # What went along is not typed any more.
    expect(first.locator("#dock textarea[name=text]")).to_have_value("")
    assert violations(first) == ""

    expect(second.locator("#dock")).to_contain_text("Approve, second of two")
    approve(second, "And tell us when it is gone")
    expect(second.locator("#closing")).to_contain_text("You approved this")
    ruling = agent.get(f"/runs/{run}/decision").json()["ruling"]
    assert "Only the build folder" in ruling["note"]
    assert "And tell us when it is gone" in ruling["note"]
