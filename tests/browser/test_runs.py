"""The list of runs and the page of one run, live."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import expect

from accounts.models import Project
from ledger.models import Run
from tests.browser.conftest import Desk
from tests.browser.test_accessibility import violations
from tests.support.builders import Person, pause_run, start_run, step

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def test_a_new_run_comes_in_and_its_row_follows_it(
    desk: Desk, project: Project, alice: Person, agent: httpx.Client
) -> None:
    page = desk.open(f"/p/{project.slug}/runs/", person=alice)
    expect(page.locator("#conn")).to_have_attribute("data-state", "live")
    expect(page.get_by_text("No runs yet")).to_be_visible()
    run = start_run(agent, task="Trim the image")
    row = page.locator(f"#run-{run}")
    expect(row).to_contain_text("Trim the image")
    expect(row).to_contain_text("running")
    agent.post(f"/runs/{run}/steps", json=step(1))
    expect(row.locator("td.steps")).to_have_text("1")
    pause_run(agent, run, first=2)
    expect(row).to_contain_text("paused")
    expect(page.locator("#fleet")).to_contain_text("paused1")
    expect(page.locator("#nav-queue-count")).to_have_text("1")


def test_a_filtered_list_keeps_to_its_filter(
    desk: Desk, project: Project, alice: Person, agent: httpx.Client
) -> None:
    run = start_run(agent)
    page = desk.open(f"/p/{project.slug}/runs/?show=running", person=alice)
    expect(page.locator("#conn")).to_have_attribute("data-state", "live")
    expect(page.locator(f"#run-{run}")).to_be_visible()
    pause_run(agent, run)
    expect(page.locator(f"#run-{run}")).to_have_count(0)
    other = start_run(agent)
    expect(page.locator(f"#run-{other}")).to_be_visible()


def test_a_searched_list_takes_in_nothing_that_it_did_not_find(
    desk: Desk, project: Project, alice: Person, agent: httpx.Client
) -> None:
    found = start_run(agent, task="Trim the image")
    page = desk.open(f"/p/{project.slug}/runs/?q=trim", person=alice)
    expect(page.locator("#conn")).to_have_attribute("data-state", "live")
    other = start_run(agent, task="Fix the login")
    agent.post(f"/runs/{found}/steps", json=step(1))
    expect(page.locator(f"#run-{found} td.steps")).to_have_text("1")
    expect(page.locator(f"#run-{other}")).to_have_count(0)


def test_runs_are_selected_by_keys_and_the_bar_says_what_can_be_done(
    desk: Desk, project: Project, alice: Person, agent: httpx.Client
) -> None:
    first, second = start_run(agent), start_run(agent)
    page = desk.open(f"/p/{project.slug}/runs/", person=alice)
    bar = page.get_by_role("toolbar", name="Selected runs")
    expect(bar).to_be_hidden()
    for _ in range(2):
        page.keyboard.press("j")
        page.keyboard.press("x")
    expect(bar).to_contain_text("2 selected")
    compare = bar.get_by_text("Compare")
    expect(compare).to_have_attribute("href", re.compile(f"a={second}&b={first}"))
    expect(bar.get_by_text("Reopen")).to_have_attribute("aria-disabled", "true")
    assert violations(page) == ""
    page.keyboard.press("Escape")
    expect(bar).to_be_hidden()
    page.keyboard.press("/")
    expect(page.get_by_label("Search runs")).to_be_focused()


def test_the_page_of_a_run_grows_and_leads_to_its_review(
    desk: Desk, project: Project, alice: Person, agent: httpx.Client
) -> None:
    run = start_run(agent)
    page = desk.open(f"/p/{project.slug}/runs/{run}/", person=alice)
    expect(page.locator("#conn")).to_have_attribute("data-state", "live")
    expect(page.locator("#timeline li")).to_have_count(1)
    agent.post(f"/runs/{run}/steps", json=step(1, summary="Read the test"))
    first = page.locator("#timeline li").first
    expect(first).to_contain_text("Read the test")
    expect(page.locator("#run-bar")).to_contain_text("1 step")
    pause_run(agent, run, first=2)
    expect(page.locator("#run-bar")).to_contain_text("Paused")
    page.get_by_role("link", name="Open the review").click()
    expect(page.get_by_role("button", name="Approve")).to_be_visible()


def test_a_run_is_aborted_from_its_page(
    desk: Desk, project: Project, bob: Person, agent: httpx.Client
) -> None:
    run = start_run(agent)
    page = desk.open(f"/p/{project.slug}/runs/{run}/", person=bob)
    expect(page.locator("#conn")).to_have_attribute("data-state", "live")
    page.keyboard.press("b")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("Not needed any more")
    dialog.get_by_role("button", name="Abort run").click()
    expect(dialog).to_be_hidden()
    expect(page.locator("#run-bar")).to_contain_text("Aborted")
    expect(page.locator("#run-head")).to_contain_text("Not needed any more")
    expect(page.get_by_role("button", name="Abort run")).to_have_count(0)


def test_a_manager_reopens_a_stopped_run_from_its_page(
    desk: Desk, project: Project, alice: Person, bob: Person, agent: httpx.Client
) -> None:
    run = start_run(agent, budget={"tokens": 1000})
    path = f"/p/{project.slug}/runs/{run}/"
    page = desk.open(path, person=alice)
    other = desk.open(path, person=bob)
    for each in (page, other):
        expect(each.locator("#conn")).to_have_attribute("data-state", "live")
    # It stops while both look at it.
    agent.post(f"/runs/{run}/steps", json=step(1, tokens=1000))
    expect(other.locator("#run-head")).to_contain_text(
        f"A manager can reopen it: {alice.user.username}."
    )
    expect(other.get_by_role("button", name="Reopen run")).to_have_count(0)
    page.get_by_role("button", name="Reopen run").click()
    dialog = page.get_by_role("dialog", name="Reopen")
    dialog.get_by_label("Why it may continue").fill("Nearly done")
    dialog.get_by_label("Tokens").fill("500")
    assert violations(page) == ""
    dialog.get_by_role("button", name="Reopen run").click()
    expect(dialog).to_be_hidden()
    expect(page.locator("#run-bar")).to_contain_text("Running")
    expect(other.locator("#timeline li").first).to_contain_text("Nearly done")
    found = agent.get(f"/runs/{run}").json()
    assert found["budget"]["tokens"]["limit"] == 1500


def test_a_note_is_sent_by_keys_and_followed_until_it_is_read(
    desk: Desk, project: Project, bob: Person, agent: httpx.Client
) -> None:
    run = start_run(agent)
    page = desk.open(f"/p/{project.slug}/runs/{run}/", person=bob)
    expect(page.locator("#conn")).to_have_attribute("data-state", "live")
    notes = page.locator("#run-notes")
    expect(notes).to_contain_text("Nobody has told this agent anything yet")
    page.keyboard.press("m")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Note").fill("Only the tests <b>")
    dialog.get_by_label("Tags").fill("scope, style")
    assert violations(page) == ""
    page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    expect(notes).to_contain_text("Only the tests <b>")
    expect(notes.get_by_text("waiting", exact=True)).to_be_visible()
    expect(notes).to_contain_text("scope")
    assert Run.objects.get(code=run).status == "running"

    answer = agent.post(f"/runs/{run}/steps", json=step(1)).json()
    assert [note["text"] for note in answer["notes"]] == ["Only the tests <b>"]
    expect(notes).to_contain_text("Came with the answer to step 1.")
    agent.post(f"/runs/{run}/steps", json=step(2))
    expect(notes.get_by_text("read", exact=True)).to_be_visible()
    expect(page.locator("#timeline")).to_contain_text("Told the agent")
    assert violations(page) == ""


def test_a_note_ends_the_run_only_after_a_question(
    desk: Desk, project: Project, bob: Person, agent: httpx.Client
) -> None:
    run = start_run(agent)
    child = start_run(agent, parent_run=run)
    page = desk.open(f"/p/{project.slug}/runs/{run}/", person=bob)
    expect(page.locator("#conn")).to_have_attribute("data-state", "live")
    page.keyboard.press("m")
    tell = page.get_by_role("dialog", name="Tell robo")
    asked = page.get_by_role("dialog", name="End the run of robo for good?")
    tell.get_by_role("button", name="End the run …").click()
    expect(asked).to_be_hidden()  # there is no note yet
    tell.get_by_label("Note").fill("Wrong branch")
    tell.get_by_role("button", name="End the run …").click()
    expect(asked).to_contain_text("nobody can resume it")
    assert violations(page) == ""
    page.keyboard.press("Enter")
    expect(asked).to_be_hidden()
    expect(tell.get_by_label("Note")).to_have_value("Wrong branch")
    assert Run.objects.get(code=run).status == "running"
    tell.get_by_role("button", name="End the run …").click()
    asked.get_by_role("button", name="End the run").click()
    expect(tell).to_be_hidden()
    expect(page.locator("#toast")).to_have_text("Run ended. robo is told why.")
    expect(page.locator("#run-bar")).to_contain_text("Aborted")
    for each in (run, child):
        refused = agent.post(f"/runs/{each}/steps", json=step(1))
        assert refused.status_code == 409
        assert "Wrong branch" in refused.json()["detail"]
