"""Waiting where a server, a network or a person does the unexpected."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from checkrail import (
    Checkrail,
    CheckrailError,
    Expired,
    ProtocolError,
    RunClosed,
    RunPaused,
    Superseded,
)
from checkrail.testing import (
    answer,
    approve,
    expire,
    fake_checkrail,
    nobody,
    retry,
    skip,
)

from tests.client.transport.test_retrying import build_problem


def test_each_end_of_a_review_ends_the_run_or_lets_it_go_on() -> None:
    with fake_checkrail(rulings=[nobody(), expire()]) as rail:
        run = Checkrail().run("Ends")
        review = run.open_review("request", "May I?")
        stands = run.standing(review).raw
        rail.trouble(httpx.Response(200, json={**stands, "state": "withdrawn"}))
        with pytest.raises(CheckrailError):
            run.wait(review)
        ended = [run.ended]
        rail.trouble(httpx.Response(200, json={**stands, "state": "superseded"}))
        with pytest.raises(Superseded):
            run.wait(review)
        ended.append(run.ended)
        run.withdraw(review)
        run.step()  # it goes on: a manager may have reopened it
        ended.append(run.ended)
        with pytest.raises(Expired):
            run.ask("Which?")
        assert [*ended, run.ended] == [False, True, False, True]
        run.disconnect()


def test_whoever_is_paused_by_the_same_review_again_does_not_ask_in_a_circle() -> None:
    """The ruling is heard before the server takes the call again."""
    with fake_checkrail(rulings=[approve()]) as rail:
        run = Checkrail().run("Circle")
        review = run.open_review("request", "May I?")
        stands = run.standing(review).raw
        paused = build_problem(
            409,
            "run-paused",
            review={"id": review.id, "kind": "request", "url": review.url},
        )
        ruled = httpx.Response(200, json=stands)
        rail.trouble(paused, ruled, paused, ruled, paused, ruled)
        run.check_command("ls")
        assert rail.slept == [0.2, 0.2]
        run.disconnect()


def test_a_pause_that_names_no_review_is_raised_everywhere() -> None:
    paused = build_problem(409, "run-paused")
    with fake_checkrail() as rail:
        run = Checkrail().run("Nameless")
        for act in (
            run.step,
            lambda: run.check_command("ls"),
            lambda: run.gate_check(["code-quality"]),
        ):
            rail.trouble(paused)
            with pytest.raises(RunPaused):
                act()
        run.step()
        rail.trouble(build_problem(409, "review-open"))
        with pytest.raises(CheckrailError):
            run.finish()
        assert not run.ended
        run.disconnect()
    # The step that was refused is not lost: it went out with the next one.
    assert [step["number"] for step in rail.steps] == [1, 2]


def test_a_closed_run_is_known_to_be_over_whatever_was_asked() -> None:
    acts: dict[str, Any] = {
        "call": lambda run: run.check_command("ls"),
        "step": lambda run: run.step(),
        "ask": lambda run: run.ask("Which?"),
        "turn": lambda run: run.turn(),
    }
    for act in acts.values():
        with fake_checkrail() as rail:
            run = Checkrail().run("Closed")
            rail.server.runs[run.id].close("aborted", "Enough.")
            with pytest.raises(RunClosed, match="Enough"), run:
                act(run)
            assert run.ended
            assert rail.sent("POST", "/finish") == []


def test_a_gate_that_a_person_lets_be_tried_again_or_skips() -> None:
    with fake_checkrail(rulings=[retry("Once more."), skip("Never mind.")]) as rail:
        run = Checkrail().run("Gates")
        run.step()
        check = run.gate_check(["code-quality"])
        assert f"attempt {check.attempt} of {check.max_attempts}" in repr(check)
        outcomes = [check.verdict("FAIL", "No tests.")]
        while outcomes[-1].ruling is None:
            outcomes.append(check.verdict("FAIL", "No tests."))
        again = outcomes[-1]
        assert again.ruling is not None
        assert (again.outcome, again.ruling.note) == ("retry", "Once more.")
        assert (again.attempt, again.prompt) == (check.attempt, check.prompt)
        assert again.attempts_left == check.attempts_left
        outcomes = [check.verdict("FAIL", "No tests.")]
        while outcomes[-1].ruling is None:
            outcomes.append(check.verdict("FAIL", "No tests."))
        skipped = outcomes[-1]
        assert skipped.ruling is not None
        assert (skipped.outcome, skipped.ruling.note) == ("skipped", "Never mind.")
        run.disconnect()
        assert rail.sent("POST", "/gate-checks") == [
            {"step": 1, "gates": ["code-quality"]}
        ]


def test_a_verdict_is_sent_whole() -> None:
    with fake_checkrail() as rail:
        run = Checkrail().run("Verdicts")
        run.step()
        check = run.gate_check(inline=[{"id": "x"}], step=0)
        check.verdict(
            "PASS",
            "Well.",
            per_gate=[{"gate": "x"}],
            evidence=[{"kind": "test"}],
            output="ok",
        )
        run.disconnect()
    assert rail.sent("POST", "/gate-checks") == [{"step": 0, "inline": [{"id": "x"}]}]
    assert rail.sent("POST", "/verdicts")[0] == {
        "overall": "PASS",
        "rationale": "Well.",
        "per_gate": [{"gate": "x"}],
        "evidence": [{"kind": "test"}],
        "output": "ok",
    }


def test_a_question_is_asked_whole_and_only_an_answer_answers_it() -> None:
    with fake_checkrail(rulings=[answer("main"), answer("x")]) as rail:
        run = Checkrail().run("Asks")
        assert run.ask("Which?", detail="Of two.", options=["main", "dev"]) == "main"
        assert rail.sent("POST", "/reviews") == [
            {
                "kind": "question",
                "title": "Which?",
                "detail": "Of two.",
                "options": ["main", "dev"],
            }
        ]
        review = run.open_review("question", "And now?")
        stands = run.standing(review).raw
        opened = rail.server.get_review(review.id).build_answer()
        bare = {**stands["ruling"], "answer": None}
        rail.trouble(
            httpx.Response(201, json=opened),
            httpx.Response(200, json={**stands, "ruling": bare}),
        )
        with pytest.raises(ProtocolError, match="no answer came"):
            run.ask("And now?")
        run.disconnect()


def test_a_turn_that_needs_a_person_is_waited_for_only_when_told_to() -> None:
    with fake_checkrail(
        turns=["needs_human"] * 2, rulings=[nobody(), answer("Yes.")]
    ) as rail:
        run = Checkrail().run("Turns")
        turn = run.turn(content="May I?", tool_signature="x", pending_todos=2)
        assert (turn.action, turn.answer) == ("needs_human", None)
        assert turn.review is not None
        run.withdraw(turn.review)
        assert run.turn(content="May I?", wait=True).answer == "Yes."
        first, second = rail.sent("POST", "/turns")
        assert (first["tool_signature"], first["pending_todos"]) == ("x", 2)
        assert "tool_signature" not in second
        run.disconnect()
