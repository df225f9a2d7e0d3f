"""Two people on one queue: what one does, the other sees, and nothing typed is lost."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Page, expect

from accounts.models import Project
from tests.support.builders import Person, pause_run, start_run

pytestmark = pytest.mark.browser
Open = Callable[..., Page]


def test_a_pause_appears_in_both_without_a_reload(
    queue_of: Open, project: Project, alice: Person, bob: Person, agent: httpx.Client
) -> None:
    pages = [queue_of(alice, project.slug), queue_of(bob, project.slug)]
    for page in pages:
        expect(page.get_by_text("You’re all caught up")).to_be_visible()
        page.evaluate("window.loadedOnce = true")
    decision = pause_run(agent, start_run(agent))
    for page in pages:
        row = page.locator(f"#review-{decision['review']['id']}")
        expect(row).to_be_visible()
        expect(row).to_contain_text("Rework ratio")
        expect(page.locator("#nav-queue-count")).to_have_text("1")
        expect(page).to_have_title("(1) Review queue")
        assert page.evaluate("window.loadedOnce")


def test_one_rules_and_the_other_sees_it_with_the_half_typed_note_kept(
    queue_of: Open, project: Project, alice: Person, bob: Person, agent: httpx.Client
) -> None:
    review = pause_run(agent, start_run(agent))["review"]["id"]
    hers = queue_of(alice, project.slug, f"{review}/")
    his = queue_of(bob, project.slug, f"{review}/")
    note = hers.get_by_label("Note to the agent")
    note.click()
    note.press_sequentially("Stop editing models.py, the fix")
    his.get_by_label("Note to the agent").fill("Go on")
    his.get_by_role("button", name="Approve").click()
    expect(his.locator("#closing")).to_contain_text("You approved this")
    expect(his.locator("#closing")).to_contain_text("Go on")
    expect(hers.locator("#closing")).to_contain_text(
        f"{bob.user.display_name} approved this"
    )
    expect(hers.locator(f"#review-{review}")).to_have_count(0)
    kept = hers.locator(f"#note-{review}")
    expect(kept).to_have_value("Stop editing models.py, the fix")
    expect(kept).to_be_focused()
    kept.press_sequentially("tures do")
    expect(kept).to_have_value("Stop editing models.py, the fixtures do")


def test_who_is_too_late_is_told_in_words_and_keeps_the_note(
    queue_of: Open, project: Project, alice: Person, bob: Person, agent: httpx.Client
) -> None:
    review = pause_run(agent, start_run(agent))["review"]["id"]
    cut_off = queue_of(bob, project.slug, f"{review}/", sockets=False)
    hers = queue_of(alice, project.slug, f"{review}/")
    hers.get_by_role("button", name="Approve").click()
    expect(hers.locator("#closing")).to_contain_text("You approved this")
    cut_off.get_by_label("Note to the agent").fill("I would not")
    with cut_off.expect_response("**/rule/") as answer:
        cut_off.get_by_role("button", name="Approve").click()
    assert answer.value.status == 409
    alert = cut_off.get_by_role("alert")
    expect(alert).to_contain_text(f"{alice.user.display_name} approved this just now")
    expect(alert).to_contain_text("Your text is kept")
    expect(cut_off.locator(f"#note-{review}")).to_have_value("I would not")
    cut_off.get_by_role("button", name="Add note").click()
    expect(cut_off.locator(".notes")).to_contain_text("I would not")
    expect(cut_off.locator(f"#note-{review}")).to_have_value("")


def test_a_claim_is_shown_to_the_others_and_moves_nothing(
    queue_of: Open, project: Project, alice: Person, bob: Person, agent: httpx.Client
) -> None:
    review = pause_run(agent, start_run(agent))["review"]["id"]
    hers = queue_of(alice, project.slug)
    his = queue_of(bob, project.slug)
    hers.get_by_role("button", name="Claim").click()
    expect(hers.get_by_role("button", name="Release")).to_be_visible()
    expect(his.locator(f"[data-group=medium] #review-{review}.taken")).to_be_visible()
    expect(hers.locator(f"#review-{review}:not(.taken)")).to_contain_text("has it")
    expect(hers.get_by_role("link", name="Mine 1")).to_be_visible()
    expect(his.get_by_role("link", name="Unclaimed 0")).to_be_visible()
    expect(his.get_by_role("button", name="Take over")).to_be_visible()
    hers.get_by_role("button", name="Release").click()
    expect(his.locator(f"#review-{review}:not(.taken)")).to_be_visible()


def test_a_comment_arrives_while_the_other_types(
    queue_of: Open, project: Project, alice: Person, bob: Person, agent: httpx.Client
) -> None:
    review = pause_run(agent, start_run(agent))["review"]["id"]
    hers = queue_of(alice, project.slug, f"{review}/")
    his = queue_of(bob, project.slug, f"{review}/")
    note = hers.get_by_label("Note to the agent")
    note.press_sequentially("Half a th")
    his.get_by_label("Note to the agent").fill("The fixtures are old")
    his.get_by_role("button", name="Add note only").click()
    expect(hers.locator(".notes")).to_contain_text("The fixtures are old")
    note.press_sequentially("ought")
    expect(note).to_have_value("Half a thought")
    expect(hers.get_by_role("button", name="Approve")).to_be_enabled()


def test_an_aborted_run_is_confirmed_first(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    run = start_run(agent)
    review = pause_run(agent, run)["review"]["id"]
    page = queue_of(alice, project.slug, f"{review}/")
    page.get_by_label("Note to the agent").fill("Wrong branch")
    page.get_by_role("button", name="Abort run").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Reason")).to_have_value("Wrong branch")
    dialog.get_by_role("button", name="Keep it").click()
    expect(dialog).to_be_hidden()
    page.get_by_role("button", name="Abort run").click()
    dialog.get_by_role("button", name="Abort run").click()
    expect(page.locator("#closing")).to_contain_text("You aborted the run")
    answer = agent.get(f"/runs/{run}")
    assert answer.json()["status"] == "aborted"
    assert answer.json()["status_reason"] == "Wrong branch"
