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
    expect(plan).to_contain_text("Calls like rm -rf build/out-# up to 3 times")
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
    expect(button).to_have_text("Approve with changes E")
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


def test_a_call_is_changed_by_keyboard_and_only_in_its_own_plan(
    queue_of: Callable[..., Page],
    project: Project,
    alice: Person,
    agent: httpx.Client,
) -> None:
    run, other = start_run(agent), start_run(agent)
    review, later = submit(agent, run, PLAN), submit(agent, other, PLAN)
    page = queue_of(alice, project.slug, f"{review['id']}/")
    plan = page.get_by_role("region", name="The plan")
    first = plan.locator(".change").first
    first.locator("summary").focus()
    page.keyboard.press("Enter")
    often = first.get_by_label("How often")
    often.fill("none")
    assert violations(page, coloured="#plan") == ""
    page.emulate_media(color_scheme="dark")
    assert violations(page, coloured="#plan") == ""
    button = page.locator("#dock [value=amend]")
    button.press("Enter")
    button.press("Enter")
    expect(plan.locator(".field-error")).to_contain_text("A whole number from 1")
    expect(often).to_have_value("none")

    # Another plan has fields of its own.
    page.locator(f"#queue a[href*='{later['id']}']").click()
    expect(page.locator("#detail")).to_have_attribute("data-code", later["id"])
    assert plan.get_by_label("How often").first.input_value() == "3"
    page.locator(f"#queue a[href*='{review['id']}']").click()
    expect(page.locator("#detail")).to_have_attribute("data-code", review["id"])

    plan.locator(".change summary").first.press("Enter")
    plan.get_by_label("How often").first.fill("1")
    button.press("Enter")
    button.press("Enter")
    expect(page.locator("#closing")).to_contain_text("You approved this")
    assert command(agent, run, "rm -rf build/out-7")["decision"] == "allow"
    again = command(agent, run, "rm -rf build/out-8")
    assert again["decision"] == "require-confirmation"
