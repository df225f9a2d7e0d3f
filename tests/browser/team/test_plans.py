"""A plan is read and approved by keyboard, without the step that is struck."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Page, expect

from accounts.models import Project
from tests.browser.conftest import Desk
from tests.browser.test_accessibility import violations
from tests.gateway.calls.calls import command
from tests.gateway.plans.planning import bash, build_plan, build_step, submit
from tests.support.builders import Person, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")

PLAN = build_plan(
    build_step(
        bash("rm -rf build/out-1", shape="shape", count=3),
        purpose="Remove old outputs",
        paths=["build"],
    ),
    build_step(bash("git push --force origin topic"), purpose="Publish the branch"),
    build_step(bash("ls"), bash("pytest -q"), purpose="Look at what is left"),
    title="Tidy up and publish",
    cost_usd="1.00",
)


def test_a_step_is_struck_and_the_rest_approved_by_keyboard(
    queue_of: Callable[..., Page],
    desk: Desk,
    project: Project,
    alice: Person,
    agent: httpx.Client,
) -> None:
    run = start_run(agent)
    review = submit(agent, run, PLAN)
    page = queue_of(alice, project.slug, f"{review['id']}/")
    plan = page.get_by_role("region", name="The plan")
    expect(plan).to_contain_text("Runs `rm -rf build/out-#` up to 3 times")
    expect(page.get_by_role("region", name="What it does not cover")).to_be_visible()
    assert violations(page, coloured="#plan") == ""
    page.emulate_media(color_scheme="dark")
    assert violations(page, coloured="#plan") == ""
    page.set_viewport_size({"width": 360, "height": 800})
    assert page.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
    page.set_viewport_size({"width": 1440, "height": 960})

    strike = plan.get_by_role("checkbox", name="Strike").nth(1)
    strike.focus()
    page.keyboard.press("Space")
    expect(strike).to_be_checked()
    # What is high takes a second press.
    button = page.locator("#dock [value=amend]")
    expect(button).to_have_text("Approve without struck steps E")
    button.press("Enter")
    button.press("Enter")

    expect(page.locator("#closing")).to_contain_text("You approved this")
    expect(plan).to_contain_text("Struck or changed: Publish the branch")
    assert command(agent, run, "rm -rf build/out-7")["decision"] == "allow"
    pushed = command(agent, run, "git push --force origin topic")
    assert pushed["decision"] == "require-confirmation"

    runs = desk.open(f"/p/{project.slug}/runs/{run}/", person=alice)
    card = runs.get_by_role("region", name="Plan", exact=True)
    expect(card).to_contain_text("1 of 3 calls")
    expect(card).to_contain_text("1 call outside the plan")
    assert violations(runs, coloured="#run-plan") == ""
