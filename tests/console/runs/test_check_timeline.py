"""Gate checks, warnings and turns in a run's timeline and on its page."""

from __future__ import annotations

import httpx
import pytest

from accounts.models import Project
from tests.console.runs.test_call_timeline import get_words, lines, look
from tests.gateway.calls.calls import rule
from tests.gateway.checks.saying import end_turn, exhaust, judge, open_check
from tests.support.browsing import open_browser, send
from tests.support.builders import Person, make_policy, start_run

pytestmark = pytest.mark.once("draws entries, not SQL")

GATES = {
    "tests-pass": {"name": "Test suite", "severity": "critical", "criteria": ["Green"]},
    "style": {"name": "Style", "severity": "high", "criteria": ["Quiet"]},
}


@pytest.fixture
def run(agent: httpx.Client, project: Project) -> str:
    make_policy("quality", project=project, gates=GATES)
    return start_run(agent, policy="quality")


def test_a_check_from_its_opening_to_its_pass(
    agent: httpx.Client,
    reviewer: httpx.Client,
    project: Project,
    alice: Person,
    run: str,
) -> None:
    check, told = exhaust(agent, run, "tests-pass")
    rule(reviewer, told, "retry", note="Mock the clock")
    judge(agent, run, check, "PASS - green")
    _, opened, first, second, _, ruled, passed = lines(alice, project, run)
    assert "Gate check opened Test suite" in get_words(opened)
    assert "blocking, 2 attempts" in get_words(opened)
    assert look(opened) == ("shield", "mute")
    assert "Gate not passed, retry No test covers the retry" in get_words(first)
    assert "attempt 1 of 2" in get_words(first)
    assert look(second) == ("unpassed", "stop")
    assert "Retry requested Mock the clock" in get_words(ruled)
    assert "reset 1 of 3" in get_words(ruled)
    assert "Gate passed green" in get_words(passed)


def test_a_skip_says_that_the_gate_was_not_passed(
    agent: httpx.Client,
    reviewer: httpx.Client,
    project: Project,
    alice: Person,
    run: str,
) -> None:
    _, told = exhaust(agent, run, "tests-pass")
    rule(reviewer, told, "skip", note="Known flake")
    ruled = lines(alice, project, run)[-1]
    assert "Gate skipped Known flake gate not passed" in get_words(ruled)
    page = (
        open_browser(alice.user).get(f"/p/{project.slug}/runs/{run}/").content.decode()
    )
    assert "Skipped, not passed" in page
    assert told["review"]["id"] in page[page.index('id="run-checks"') :]


def test_a_warning_is_acknowledged_on_the_page_of_its_run(
    agent: httpx.Client, project: Project, alice: Person, charlie: Person, run: str
) -> None:
    told = judge(agent, run, open_check(agent, run, "style"))
    (warning,) = told["advisory_warnings"]
    path = f"/p/{project.slug}/runs/{run}/"
    page = open_browser(alice.user).get(path).content.decode()
    assert "Gate not passed: style. No test covers the retry" in page
    assert "1 new" in page
    action = f"{path}warnings/{warning['id']}/acknowledge/"
    assert action in page
    assert send(open_browser(charlie.user), action).status_code == 404
    done = send(open_browser(alice.user), action).content.decode()
    assert f"acknowledged by {alice.user.username}" in done
    assert "Acknowledge" not in done
    assert send(open_browser(alice.user), action).status_code == 200  # once is enough
    assert open_browser(alice.user).post(action).status_code == 302
    acknowledged = lines(alice, project, run)[-1]
    assert "Warning acknowledged Gate not passed: style" in get_words(acknowledged)
    assert open_check(agent, run, "style")["advisory_warnings"] == []


def test_a_warning_of_another_run_is_not_found(
    agent: httpx.Client, project: Project, alice: Person, run: str
) -> None:
    told = judge(agent, run, open_check(agent, run, "style"))
    warning = told["advisory_warnings"][0]["id"]
    other = start_run(agent)
    path = f"/p/{project.slug}/runs/{other}/warnings/{warning}/acknowledge/"
    assert send(open_browser(alice.user), path).status_code == 404


def test_turns_say_what_was_made_of_them(
    agent: httpx.Client, project: Project, alice: Person, run: str
) -> None:
    agent.post(
        f"/runs/{run}/turns",
        json={
            "finish_reason": "tool_calls",
            "last_event": "tool_result",
            "content": "Now I need to fix the second file.",
        },
    )
    end_turn(agent, run, "Shall I drop the table\u202e?")
    _, on, asked, _ = lines(alice, project, run)
    assert "Turn ended early, agent told to continue Now I need to fix" in get_words(on)
    assert "Turn needs a person Shall I drop the table⟨U+202E⟩?" in get_words(asked)
    assert "The turn asks a person" in get_words(asked)
    assert look(asked) == ("question", "pause")


def test_of_many_checks_the_newest_are_in_sight(
    agent: httpx.Client, project: Project, alice: Person, run: str
) -> None:
    for _ in range(22):
        judge(agent, run, open_check(agent, run, "tests-pass"), "PASS - green")
    page = (
        open_browser(alice.user).get(f"/p/{project.slug}/runs/{run}/").content.decode()
    )
    assert page.count('<li id="check-') == 20
    assert "newest 20 of 22" in page
    assert "16 earlier checks" in page
