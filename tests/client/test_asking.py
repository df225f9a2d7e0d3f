"""Questions, requests, turns and gate checks that a person has to answer."""

from __future__ import annotations

import pytest
from checkrail import AsyncCheckrail, Checkrail, Denied, Invalid, Withdrawn
from checkrail.people import Desk

from accounts.models import Project
from tests.client.acting import approve, deny, somebody
from tests.support.builders import make_policy


def test_a_question_is_answered(rail: Checkrail, desk: Desk) -> None:
    with rail.run("Asks") as run:
        with somebody(
            desk, run.id, lambda desk, review: desk.answer(review, "main")
        ) as seen:
            assert run.ask("Which branch?", options=["main", "dev"]) == "main"
        assert seen[0].content["options"] == ["main", "dev"]


def test_a_request_is_approved_or_denied(rail: Checkrail, desk: Desk) -> None:
    with rail.run("Asks") as run:
        with somebody(desk, run.id, approve):
            ruling = run.request_approval("Deploy to production?", detail="Release 7")
        assert (ruling.action, ruling.note) == ("approve", "Go on.")
        with somebody(desk, run.id, deny), pytest.raises(Denied, match="Not today"):
            run.request_approval("Deploy on Friday?")


def test_a_plan_is_approved_and_its_calls_are_not_asked_about(
    rail: Checkrail, desk: Desk
) -> None:
    planned = {"tool": "Bash", "command": "rm -rf build"}
    steps = [{"purpose": "Clean", "calls": [planned]}]
    with rail.run("Plans") as run:
        with somebody(desk, run.id, approve):
            ruling = run.submit_plan("Tidy up", steps=steps, limits={"tool_calls": 1})
        assert (ruling.action, ruling.amended) == ("approve", None)
        with run.check_command("rm -rf build") as call:
            assert call.command == "rm -rf build"
        with somebody(desk, run.id, deny), pytest.raises(Denied, match="Not today"):
            run.submit_plan("Tidy up again", steps=steps)


def test_a_request_that_was_withdrawn_is_no_approval(rail: Checkrail) -> None:
    with rail.run("Asks") as run:
        review = run.open_review("request", "May I?")
        assert run.standing(review).state == "open"
        assert run.withdraw(review).state == "withdrawn"
        with pytest.raises(Withdrawn):
            run.wait(review)
        assert run.standing().state == "withdrawn"


def test_a_turn_that_asks_waits_for_the_answer_when_told_to(
    rail: Checkrail, desk: Desk
) -> None:
    asking = "Should I delete the old migrations?"
    with rail.run("Half-way") as run:
        going = run.turn(
            finish_reason="tool_calls",
            last_event="tool_result",
            content="Now I need to fix the second file.",
        )
        assert going.action == "auto_continue"
        assert going.nudge
        assert run.turn(content="All done. Summary: fixed.").action == "finish"
        with somebody(
            desk, run.id, lambda desk, review: desk.answer(review, "Keep them")
        ):
            turn = run.turn(content=asking, finish_reason="stop", wait=True)
        assert (turn.action, turn.answer) == ("needs_human", "Keep them")


GATES = {"tests-pass": {"severity": "critical", "criteria": ["Every test passes"]}}


def test_a_gate_check_goes_through_its_attempts_to_a_person_and_passes(
    rail: Checkrail, desk: Desk, project: Project
) -> None:
    make_policy("quality", project=project, gates=GATES)
    with rail.run("Tests", policy="quality") as run:
        run.step()
        check = run.gate_check(["tests-pass"])
        assert (check.enforcement_mode, check.attempt) == ("blocking", 1)
        assert "Every test passes" in (check.prompt or "")
        with pytest.raises(Invalid):
            check.text("It went rather well.")
        first = check.verdict("FAIL", "Two tests fail")
        assert (first.outcome, first.attempts_left, check.attempt) == ("retry", 1, 2)
        with somebody(
            desk, run.id, lambda desk, review: desk.retry(review, note="Read the log")
        ):
            second = check.text("GATE_REVIEW: FAIL - One test fails")
        assert second.outcome == "retry"
        assert second.ruling is not None
        assert "Read the log" in (check.prompt or "")
        assert check.verdict("PASS", "All green").passed
        assert check.prompt is None


def test_a_person_may_skip_a_gate(
    rail: Checkrail, desk: Desk, project: Project
) -> None:
    once = {"tests-pass": {**GATES["tests-pass"], "retry": {"max_attempts": 1}}}
    make_policy("quality", project=project, gates=once)
    with rail.run("Tests", policy="quality") as run:
        check = run.gate_check(
            ["tests-pass"], inline=[{"id": "own", "criteria": ["x"]}]
        )
        assert list(check.gates) == ["tests-pass", "own"]
        with somebody(
            desk, run.id, lambda desk, review: desk.skip(review, note="Known to flake")
        ):
            outcome = check.verdict("FAIL", "It flakes")
        assert (outcome.outcome, outcome.passed) == ("skipped", False)
        assert run.step().decision == "continue"


async def test_the_same_on_an_event_loop(rail: Checkrail, desk: Desk) -> None:
    async with AsyncCheckrail(rail.connection.base, rail.connection.secret).run(
        "Asks"
    ) as run:
        with somebody(
            desk,
            run.id,
            lambda desk, review: desk.answer(review, "main"),
            approve,
        ):
            assert await run.ask("Which branch?") == "main"
            decision = await run.step(uncertainty=0.95)
        assert decision.decision == "pause"
        check = await run.gate_check(["code-quality"], step=1)
        assert (await check.verdict("PASS", "Reads well")).passed
    assert run.state.status == "completed"


def test_gates_can_be_asked_without_a_run(rail: Checkrail) -> None:
    assert rail.evaluate_command("rm -rf build").decision == "require-confirmation"
    assert rail.evaluate_tool("mcp__db__query", {"sql": "SELECT 1"}).decision == "allow"
    assert rail.evaluate_edit("a.py", "x = 1\n").decision == "allow"
    planned = rail.evaluate_multi_edit("a.py", "x = 1\n", [{"old": "1", "new": "2"}])
    assert planned.preview is not None
    assert "+x = 2" in planned.preview.diff
    assert rail.evaluate_verdict("GATE_REVIEW: FAIL - No").overall == "FAIL"
    assert rail.evaluate_turn(content="All done.").action == "finish"
    assert rail.evaluate_continue(step_number=1).decision == "continue"
