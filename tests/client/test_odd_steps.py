"""Steps and ends of runs where a server or a network does the unexpected."""

from __future__ import annotations

import logging
from typing import Any

import httpx
import pytest
from checkrail import (
    Checkrail,
    Invalid,
    ProtocolError,
    RunClosed,
    RunPaused,
    TooLarge,
    Unreachable,
)
from checkrail.flows.backlog import CallResult, StepReport
from checkrail.flows.call_requests import build_result_request
from checkrail.testing import (
    approve,
    fake_checkrail,
    nobody,
)

from tests.client.transport.test_retrying import build_problem


def test_a_step_that_is_refused_for_itself_is_dropped_and_the_next_one_counts() -> None:
    for status, slug, kind in ((422, "invalid", Invalid), (413, "too-large", TooLarge)):
        with fake_checkrail() as rail:
            run = Checkrail().run("Refused")
            rail.trouble(build_problem(status, slug))
            with pytest.raises(kind):
                run.step(tokens=1)
            assert run.step(tokens=2).step == 1
            run.disconnect()


def test_a_step_without_an_answer_keeps_its_number_and_its_figures() -> None:
    with fake_checkrail() as rail:
        run = Checkrail(retry_seconds=1).run("Cut off")
        rail.cut()
        with pytest.raises(Unreachable):
            run.step(tokens=1)
        with pytest.raises(Unreachable):
            run.report_step(tokens=2)
        rail.mend()
        assert run.report_step(tokens=3).step == 3
        run.disconnect()
    assert [step["tokens"] for step in rail.steps] == [1, 2, 3]


def test_a_step_that_was_not_taken_because_of_a_pause_is_not_kept() -> None:
    with fake_checkrail(rulings=[nobody()]) as rail:
        run = Checkrail().run("Paused")
        review = run.open_review("request", "May I?")
        with pytest.raises(RunPaused):
            run.report_step(tokens=1)
        run.withdraw(review)
        run.report_step(tokens=2)
        run.disconnect()
    assert [step["tokens"] for step in rail.steps] == [2]


@pytest.mark.parametrize(
    "numbers", [[2], [1, 2], []], ids=["another", "too many", "none"]
)
def test_an_answer_about_other_steps_is_none(numbers: list[int]) -> None:
    with fake_checkrail() as rail:
        whole = Checkrail().run("Whole")
        good = whole.step().raw
        whole.disconnect()
        run = Checkrail().run("Odd", batch_steps=2, batch_seconds=60)
        decisions = [{**good, "step": number} for number in numbers]
        rail.trouble(
            httpx.Response(200, json={"decisions": decisions[:1], "accepted": 1})
            if len(numbers) != 2
            else httpx.Response(
                200,
                json={"decisions": [*decisions, {**good, "step": 3}], "accepted": 3},
            )
        )
        run.backlog.steps.extend(build_reports(2))
        with pytest.raises(ProtocolError, match="Reported steps from 1 to 2"):
            run.flush()
        run.flush()
        run.disconnect()
    assert [step["number"] for step in rail.steps if "n" not in step] == [1, 1, 2]


def build_reports(count: int) -> list[Any]:
    return [StepReport({"tokens": n, "tool_calls": 0}) for n in range(count)]


def test_a_batch_may_end_early_with_a_pause_and_the_rest_follows() -> None:
    with fake_checkrail(
        decisions=["continue", "pause", "continue"], rulings=[approve("Go on.")]
    ) as rail:
        run = Checkrail().run("Early", batch_steps=3, batch_seconds=60)
        run.backlog.steps.extend(build_reports(3))
        run.flush()
        assert [len(body["steps"]) for body in rail.sent("POST", "/batch")] == [3]
        assert [each["number"] for each in rail.steps] == [1, 2, 3]
        assert [ruling.note for ruling in run.pause_rulings] == ["Go on."]
        run.disconnect()


def test_several_steps_of_a_closed_run_are_told_of_once() -> None:
    with fake_checkrail() as rail:
        run = Checkrail().run("Closed", batch_steps=3, batch_seconds=60)
        rail.server.runs[run.id].close("aborted")
        run.backlog.steps.extend(build_reports(3))
        with pytest.raises(RunClosed):
            run.flush()
        assert not run.backlog.steps
        assert not run.backlog.errors
        run.flush()
        run.disconnect()


def test_batches_have_a_size_that_a_server_takes() -> None:
    with fake_checkrail():
        for size in (0, 1, 101):
            with pytest.raises(ValueError, match=f"2 to 100, not {size}"):
                Checkrail().run("Size", batch_steps=size)
        for size in (2, 100):
            Checkrail().run("Size", batch_steps=size).close()


def test_a_queue_that_grows_too_long_is_sent_before_more_is_taken() -> None:
    with fake_checkrail() as rail:
        run = Checkrail().run("Long", batch_steps=2, batch_seconds=60)
        run.wake = lambda: None  # the thread that sends is busy elsewhere
        for number in range(1, 21):
            run.step(tokens=number)
            assert len(rail.steps) == (20 if number == 20 else 0)
        run.close()


def test_what_was_not_sent_is_named(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, logger="checkrail")
    for steps, tools, words in (
        (1, [], "1 step were"),
        (2, ["Bash"], "2 steps and the result of Bash were"),
        (0, ["Bash", "Edit"], "the results of Bash, Edit were"),
    ):
        caplog.clear()
        with fake_checkrail() as rail:
            run = Checkrail(retry_seconds=1).run("Unsent")
            calls = [run.judge_call("tool", tool=tool) for tool in tools]
            rail.cut()
            for _ in range(steps):
                with pytest.raises(Unreachable):
                    run.step()
            for call, tool in zip(calls, tools, strict=True):
                request = build_result_request(run, call.id, {"ok": True})
                run.backlog.results.append(CallResult(tool, request))
            run.close()
        assert f"is left: {words} not sent." in caplog.text


def test_an_end_waits_for_who_is_still_asked() -> None:
    with fake_checkrail(rulings=[approve(after=40)]) as rail:
        with Checkrail().run("Asked") as run:
            run.open_review("request", "May I?")
        assert rail.runs[0]["status"] == "completed"
        assert rail.clock() == pytest.approx(40)


def test_an_end_tells_all_that_was_given_and_nothing_else() -> None:
    with fake_checkrail() as rail:
        run = Checkrail().run("Ends", budget={"cost_usd": 1.5, "tokens": None})
        run.finish(
            "failed",
            summary="No.",
            tests={"ran": 1},
            diff={"lines_added": 2},
            rework_lines=3,
            files_touched=["a"],
            tools_used=["b"],
            violations=[{"rule": "c"}],
        )
        Checkrail().run("Bare").finish()
    assert rail.sent("POST", "/finish") == [
        {
            "outcome": "failed",
            "summary": "No.",
            "tests": {"ran": 1},
            "diff": {"lines_added": 2},
            "rework_lines": 3,
            "files_touched": ["a"],
            "tools_used": ["b"],
            "violations": [{"rule": "c"}],
        },
        {"outcome": "completed"},
    ]
    assert rail.sent("POST", "/runs")[0]["budget"] == {
        "cost_usd": "1.5",
        "tokens": None,
    }


def test_a_failure_is_told_in_short() -> None:
    with (
        fake_checkrail() as rail,
        pytest.raises(ValueError, match="x"),
        Checkrail().run("Fails"),
    ):
        raise ValueError("x" * 5000)
    (told,) = rail.sent("POST", "/finish")
    assert told["outcome"] == "failed"
    assert told["summary"].startswith("ValueError: xxx")
    assert len(told["summary"]) == 2000


def test_whoever_was_faster_than_a_withdrawal_does_no_harm() -> None:
    with fake_checkrail(rulings=[nobody()]) as rail:
        run = Checkrail().run("Faster")
        review = run.open_review("question", "Which?")
        open_review = build_problem(
            409,
            "review-open",
            review={"id": review.id, "kind": "question", "url": review.url},
        )
        rail.server.get_review(review.id).state = "ruled"
        rail.trouble(open_review)
        with pytest.raises(KeyError), run:
            raise KeyError
    assert rail.runs[0]["status"] == "failed"


def test_a_run_counts_its_steps_as_the_server_does() -> None:
    with fake_checkrail() as rail:
        run = Checkrail().run("Counts")
        run.step()
        other = Checkrail().resume(run.id)
        assert other.last_step == 1
        other.step()
        run.refresh()
        assert run.step().step == 3
        stored = rail.server.runs[run.id]
        stored.last_step = 1  # a server restored from a backup
        stored.steps = {1: stored.steps[1]}
        run.refresh()
        assert run.step().step == 2
        assert repr(run) == f"<Run {run.id}, step 2>"
        run.disconnect()
        other.disconnect()
