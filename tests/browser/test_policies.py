"""A manager writes a policy, mends it, tries it, publishes it and takes it back."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from accounts.models import Project
from reviews.policies.backtest.perform import perform_next
from tests.browser.conftest import Desk
from tests.browser.test_accessibility import violations
from tests.gateway.calls.calls import command, rule
from tests.support.builders import Person, make_policy, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")

WIDER = "document.documentElement.scrollWidth > innerWidth"


def look_at(page: Page, coloured: str = "html") -> None:
    """Readable for everybody, in both themes and on a small screen. Of a long page, the
    part that has all of its colours may be named."""
    assert violations(page, coloured=coloured) == ""
    size = page.viewport_size
    assert size is not None
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate(WIDER) is False
    page.set_viewport_size(size)


def press(page: Page, role: str, name: str) -> None:
    """By keyboard: whatever can be done has to be reached by it."""
    button = page.get_by_role(role, name=name, exact=True)  # type: ignore[arg-type]
    button.focus()
    page.keyboard.press("Enter")


def test_a_policy_is_written_mended_tried_published_and_taken_back(
    desk: Desk,
    project: Project,
    alice: Person,
    agent: httpx.Client,
    reviewer: httpx.Client,
) -> None:
    make_policy("default", project=project, **{"continue": {"repeat_limit": 3}})
    rule(reviewer, command(agent, start_run(agent), "rm -rf build-a"), "deny")
    page = desk.open(f"/p/{project.slug}/policies/", person=alice)
    look_at(page)
    press(page, "link", "Assignments")
    page.get_by_label("Label").focus()
    page.keyboard.type("team:docs")
    page.get_by_label("Gets").select_option("default")
    press(page, "button", "Add")
    expect(page.get_by_text("not saved")).to_be_visible()
    expect(page.locator("#row-1")).to_be_visible()
    look_at(page)
    press(page, "button", "Save")
    expect(page.get_by_text("not saved")).to_have_count(0)
    page.goto(f"/p/{project.slug}/policies/")
    press(page, "link", "New policy")
    expect(page.get_by_label("Starts with")).to_be_visible()
    look_at(page)
    page.go_back()
    press(page, "link", "default")
    expect(page.get_by_text("in force").first).to_be_visible()
    look_at(page)
    press(page, "link", "Edit")

    limit = page.get_by_label("Repetitions")
    limit.focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("x")
    expect(page.locator("#problems")).to_contain_text("must be a whole number")
    expect(page.locator("#yaml")).to_have_value("continue:\n  repeat_limit: x\n")
    assert limit.input_value() == "x"
    look_at(page, coloured=".editor .problems, .frow:has(.wrong), #yaml-side")
    gates = page.locator("details[data-group=gates]")
    gates.locator("summary").click()
    yaml = page.locator("#yaml")
    yaml.focus()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("# mine\ntools: {rules: {delete-folder: warn}}\n")
    expect(page.locator("#draft-state")).to_contain_text("valid")
    expect(page.locator("#draft-changes")).to_contain_text("Asks less")
    choices = page.get_by_role("radiogroup", name="delete-folder")
    expect(choices.get_by_role("radio", name="note")).to_be_checked()
    expect(gates).to_have_attribute("open", "")
    # What the form changes leaves the rest of the text as it was typed.
    page.locator("[name='f:budget.tokens']").fill("5000")
    expect(yaml).to_have_value(
        "# mine\nbudget: {tokens: 5000}\ntools: {rules: {delete-folder: warn}}\n"
    )
    look_at(page, coloured="#draft-changes, .frow:has(.was), .dock")
    page.locator("#new-gate").fill("unit-tests")
    press(page, "button", "Add a gate")
    expect(yaml).to_have_value(re.compile("unit-tests:"))
    press(page, "button", "Remove unit-tests")
    expect(yaml).not_to_have_value(re.compile("gates"))
    undo = page.get_by_role("button", name="Undo Budget, Tokens")
    undo.focus()
    page.keyboard.press("Enter")
    expect(yaml).to_have_value("# mine\ntools: {rules: {delete-folder: warn}}\n")
    expect(undo).to_have_count(0)
    expect(page.locator("[name='f:budget.tokens']")).to_have_value("")

    page.get_by_role("textbox", name="Why", exact=True).fill("Ask less.")
    press(page, "button", "Backtest")
    expect(page.get_by_role("heading", name="Backtest")).to_be_visible()
    # What was typed in the editor comes along, and nothing is published half tried.
    why, publish = page.get_by_label("Why"), page.get_by_role("button", name="Publish")
    expect(why).to_have_value("Ask less.")
    expect(publish).to_be_disabled()
    why.fill("Ask less, I say.")
    while perform_next():
        pass
    expect(page.locator(".verdict")).to_contain_text("No longer asks in 1 case")
    expect(page.locator("tr.bad")).to_contain_text("rm -rf build-a")
    look_at(page)
    expect(why).to_have_value("Ask less, I say.")
    expect(publish).to_be_enabled()
    why.press("Enter")
    expect(page.get_by_text("version 3, in force")).to_be_visible()
    expect(page.locator(".hist")).to_contain_text("Ask less, I say.")

    press(page, "link", "Restore … version 2")
    expect(page.get_by_role("heading", name="Restore version 2?")).to_be_visible()
    page.keyboard.type("That one was denied.")
    press(page, "button", "Restore")
    expect(page.get_by_text("version 2, in force")).to_be_visible()
    expect(page.locator(".hist")).to_contain_text("That one was denied.")

    press(page, "link", "Version 3")
    press(page, "button", "Shadow …")
    page.locator("#watch textarea").fill("And on new work?")
    press(page, "button", "Start watching")
    expect(page.get_by_text("Nothing was decided yet")).to_be_visible()
    command(agent, start_run(agent), "rm -rf build-b")
    expect(page.locator("#items")).to_contain_text("rm -rf build-b")
    look_at(page)
    press(page, "button", "Stop")
    expect(page.locator(".verdict")).to_contain_text("Stopped")
    page.goto(f"/p/{project.slug}/policies/default/")
    page.get_by_role("link", name="Compare version 3").click()
    expect(page.locator(".shown-diff")).to_contain_text("delete-folder: warn")
    look_at(page)
    assert desk.complaints == []


def test_what_is_typed_before_the_script_runs_is_not_lost(
    desk: Desk, project: Project, alice: Person
) -> None:
    make_policy("default", project=project, **{"continue": {"repeat_limit": 3}})
    page = desk.open("/healthz", person=alice)
    held: list[Route] = []
    page.route(
        "**/bundles/console-policies-editor.*.js", lambda route: held.append(route)
    )
    page.goto(f"/p/{project.slug}/policies/default/edit/", wait_until="commit")
    limit = page.get_by_label("Repetitions")
    limit.select_text()
    limit.press_sequentially("x")
    expect(limit).to_have_value("x")
    held.pop().continue_()
    expect(page.locator("#problems")).to_contain_text("must be a whole number")
    expect(page.locator("#yaml")).to_have_value("continue:\n  repeat_limit: x\n")
    expect(limit).to_have_value("x")
