"""Gate checks and turns in a real browser: from FAIL to a person's choice, and on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from accounts.models import Project
from tests.browser.conftest import Desk
from tests.browser.test_accessibility import violations
from tests.browser.test_narrow import SIZES, fits
from tests.gateway.checks.saying import end_turn, exhaust, judge, open_check
from tests.support.builders import Person, make_policy, start_run, step

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")
Open = Callable[..., Page]
GATES = {
    "tests-pass": {
        "name": "Test suite",
        "severity": "critical",
        "criteria": ["Every test passes", "New code has a test"],
        "guidance": "Run the suite now.",
    },
    "style": {"name": "Style", "severity": "high", "criteria": ["The linter is quiet"]},
}


@pytest.fixture
def run(agent: httpx.Client, project: Project) -> str:
    make_policy("default", project=project, gates=GATES, checks={"max_resets": 1})
    code = start_run(agent)
    agent.post(f"/runs/{code}/steps", json=step(1, summary="Write the retry"))
    return code


def build_path(told: dict[str, Any]) -> str:
    return f"{told['review']['id']}/"


def test_fail_retry_fail_choice_retry_pass(
    queue_of: Open, project: Project, bob: Person, agent: httpx.Client, run: str
) -> None:
    page = queue_of(bob, project.slug)
    check = open_check(agent, run, "tests-pass")
    assert judge(agent, run, check)["outcome"] == "retry"
    told = judge(agent, run, check, "FAIL - One test does not cover the retry")
    row = page.locator(f"#review-{told['review']['id']}")
    expect(row).to_contain_text("Not passed after 2 attempts: Test suite")
    expect(row.locator(".chip")).to_have_text("attempt 2 of 2")
    row.locator("a").click()
    attempts = page.locator(".side-by-side > li")
    expect(attempts).to_have_count(2)
    first, second = (attempts.nth(place).bounding_box() for place in (0, 1))
    assert first
    assert second
    assert first["y"] == second["y"]  # side by side
    assert first["x"] < second["x"]
    page.keyboard.press("n")
    page.keyboard.type("Mock the clock")
    page.keyboard.press("Escape")
    page.keyboard.press("r")
    expect(page.locator("#closing")).to_contain_text("You asked for a retry")
    decision = agent.get(f"/runs/{run}/decision").json()
    assert decision["ruling"]["action"] == "retry"
    stands = agent.get(f"/runs/{run}/gate-checks/{check['id']}").json()
    assert "Mock the clock" in stands["prompt"]
    assert judge(agent, run, check, "PASS - mocked")["outcome"] == "passed"


def test_mixed_gates_hold_the_run_as_the_strictest_does(
    queue_of: Open, project: Project, bob: Person, agent: httpx.Client, run: str
) -> None:
    page = queue_of(bob, project.slug)
    _, told = exhaust(agent, run, "style", "tests-pass")
    page.locator(f"#review-{told['review']['id']} a").click()
    expect(page.locator("#detail")).to_contain_text("checked as blocking")
    expect(page.locator("#detail")).to_contain_text("advisory")


def test_a_skip_needs_a_reason_by_key_and_by_click(
    queue_of: Open, project: Project, bob: Person, agent: httpx.Client, run: str
) -> None:
    check, told = exhaust(agent, run, "tests-pass")
    page = queue_of(bob, project.slug, build_path(told))
    note = page.get_by_label("Guidance or reason")
    page.keyboard.press("s")
    expect(note).to_be_focused()
    skip = page.get_by_role("button", name="Skip gate")
    skip.click()
    error = page.locator("#note-error")
    expect(error).to_have_text("Say why the gate may be skipped.")
    expect(error).to_be_focused()
    expect(note).to_have_attribute("aria-invalid", "true")
    note.fill("A known flake")
    skip.click()
    expect(page.locator("#closing")).to_contain_text("skipped the gate")
    assert agent.get(f"/runs/{run}").json()["status"] == "running"
    stands = agent.get(f"/runs/{run}/gate-checks/{check['id']}").json()
    assert stands["status"] == "skipped"


def test_an_abort_asks_first(
    queue_of: Open, project: Project, bob: Person, agent: httpx.Client, run: str
) -> None:
    _, told = exhaust(agent, run, "tests-pass")
    page = queue_of(bob, project.slug, build_path(told))
    page.keyboard.press("b")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Abort run").click()
    expect(page.locator("#closing")).to_contain_text("You aborted the run")
    assert agent.get(f"/runs/{run}").json()["status"] == "aborted"


def test_when_no_reset_is_left_a_retry_is_not_offered(
    queue_of: Open, project: Project, bob: Person, agent: httpx.Client, run: str
) -> None:
    check, told = exhaust(agent, run, "tests-pass")
    page = queue_of(bob, project.slug, build_path(told))
    page.get_by_role("button", name="Retry with guidance").click()
    expect(page.locator("#closing")).to_be_visible()
    judge(agent, run, check)
    again = judge(agent, run, check)
    page.locator(f"#review-{again['review']['id']} a").click()
    expect(page.locator(".round")).to_have_count(2)
    expect(page.get_by_role("button", name="Retry")).to_have_count(0)
    expect(page.get_by_role("button", name="Skip gate")).to_be_visible()
    expect(page.locator("#dock")).to_contain_text("No reset is left for a retry")


def test_a_persons_answer_reaches_the_agent_that_waits(
    queue_of: Open, project: Project, bob: Person, agent: httpx.Client, run: str
) -> None:
    page = queue_of(bob, project.slug)
    told = end_turn(agent, run, "Two are alike.\nShall I drop the first table?")
    page.locator(f"#review-{told['review']['id']} a").click()
    expect(page.get_by_label("Why it was escalated")).to_contain_text("asks a person")
    expect(page.locator(".narrated")).to_contain_text("Two are alike.")
    page.get_by_label("Your answer").fill("No. Archive it first.")
    page.get_by_role("button", name="Answer").click()
    expect(page.locator("#closing")).to_contain_text("You answered this")
    waited = agent.get(f"/runs/{run}/decision", params={"wait": 5}).json()
    assert waited["ruling"]["answer"] == "No. Archive it first."


def test_a_warning_arrives_on_the_runs_page_and_is_acknowledged(
    desk: Desk, project: Project, bob: Person, agent: httpx.Client, run: str
) -> None:
    page = desk.open(f"/p/{project.slug}/runs/{run}/", person=bob)
    expect(page.locator("#conn")).to_have_attribute("data-state", "live")
    judge(agent, run, open_check(agent, run, "style"))
    warning = page.get_by_label("Warnings")
    expect(warning).to_contain_text("Gate not passed: style")
    expect(page.get_by_label("Gate checks")).to_contain_text("Not passed, warned")
    warning.get_by_role("button", name="Acknowledge").click()
    expect(warning).to_contain_text(f"acknowledged by {bob.user.username}")
    expect(page.locator("#timeline")).to_contain_text("Warning acknowledged")


def test_a_skip_and_an_acknowledgement_need_no_script(
    desk: Desk, project: Project, bob: Person, agent: httpx.Client, run: str
) -> None:
    judge(agent, run, open_check(agent, run, "style"))
    _, told = exhaust(agent, run, "tests-pass")
    path = f"/p/{project.slug}/queue/{build_path(told)}"
    page = desk.open(path, person=bob, scripts=False)
    page.get_by_label("Guidance or reason").fill("A known flake")
    page.get_by_role("button", name="Skip gate").click()
    expect(page.locator("#closing")).to_contain_text("skipped the gate")
    page.goto(f"/p/{project.slug}/runs/{run}/")
    page.get_by_role("button", name="Acknowledge").click()
    expect(page.get_by_label("Warnings")).to_contain_text("acknowledged by")


def test_axe_finds_nothing(
    desk: Desk,
    project: Project,
    bob: Person,
    agent: httpx.Client,
    run: str,
) -> None:
    page = desk.open(f"/p/{project.slug}/gates/", person=bob)
    assert violations(page) == ""
    judge(agent, run, open_check(agent, run, "style"))
    asked = end_turn(agent, start_run(agent), "Shall I drop the table\u202e?")
    _, told = exhaust(agent, run, "tests-pass", "style")
    paths = (
        f"queue/{build_path(told)}",
        f"queue/{build_path(asked)}",
        "gates/",
        f"runs/{run}/",
    )
    for path in paths:
        page.goto(f"/p/{project.slug}/{path}")
        for folded in page.locator("main details > summary").all():
            folded.click()
        assert violations(page) == ""


def test_nothing_scrolls_sideways(
    desk: Desk, project: Project, bob: Person, agent: httpx.Client, run: str
) -> None:
    long = "a" * 400
    own = {"id": "own", "name": "b" * 90, "mode": "blocking", "criteria": [long]}
    check = open_check(agent, run, "style", inline=[own])
    entries = [{"index": 2, "passed": False, "rationale": long}]
    verdict: dict[str, Any] = {
        "overall": "FAIL",
        "rationale": long,
        "per_gate": entries,
    }
    judge(agent, run, check, **verdict)
    told = judge(agent, run, check, **verdict)
    page = desk.open("/", person=bob)
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        for path in (f"queue/{build_path(told)}", "gates/", f"runs/{run}/"):
            page.goto(f"/p/{project.slug}/{path}")
            expect(page.locator("main .scroll, main.scroll").first).to_be_visible()
            assert fits(page), (width, path)
            scroll = page.locator("main > .scroll")
            within = scroll.evaluate("pane => pane.scrollWidth <= pane.clientWidth")
            assert within, (width, path)
