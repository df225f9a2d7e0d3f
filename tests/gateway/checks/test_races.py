"""Verdicts, rulings and aborts at the same moment: one order, and nothing twice."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

import httpx
import pytest

from accounts.models import Project
from ledger.models import Run
from ledger.verification.replay import replay_run
from reviews.models import GateCheck, Review, ReviewState
from tests.conftest import client_for
from tests.gateway.calls.calls import rule, slug
from tests.gateway.checks.test_flows import fail, open_new_check, say
from tests.support.builders import Robot, make_policy, start_run
from tests.support.live import Live
from tests.support.threads import at_once

GATES = {
    "twice": {"mode": "blocking"},
    "thrice": {"mode": "blocking", "retry": {"max_attempts": 3}},
}
ROUNDS = 5
FAIL = "GATE_REVIEW: FAIL - No test covers the retry"
PASS = "GATE_REVIEW: PASS - All green"


@pytest.fixture
def start(agent: httpx.Client, project: Project) -> Callable[[], str]:
    make_policy("races", project=project, gates=GATES)
    return partial(start_run, agent, policy="races")


@pytest.fixture
def robots(live: Live, robo: Robot) -> Iterator[list[httpx.Client]]:
    """The agent's clients, each with a connection of its own."""
    with ExitStack() as stack:
        yield [stack.enter_context(client_for(live, robo)) for _ in range(10)]


def get_status(check: dict[str, Any]) -> str:
    return GateCheck.objects.get(code=check["id"]).status


def history(check: dict[str, Any]) -> list[str]:
    state = json.loads(GateCheck.objects.get(code=check["id"]).state)
    return [event["what"] for event in state["history"]]


def sound(run: str) -> None:
    """The ledger leads to the state that is stored."""
    assert replay_run(Run.objects.get(code=run)).difference is None


def test_two_exhausting_fails_ask_one_person_once(
    start: Callable[[], str], robots: list[httpx.Client]
) -> None:
    for _ in range(ROUNDS):
        run = start()
        check = open_new_check(robots[0], run, "twice", step=0)
        fail(robots[0], run, check)
        answers = at_once(*(partial(say, one, run, check, FAIL) for one in robots[:2]))
        won, lost = sorted(answers, key=lambda answer: answer.status_code)
        assert won.json()["outcome"] == "exhausted"
        assert (lost.status_code, slug(lost)) == (409, "run-paused")
        (review,) = Review.objects.filter(run__code=run)
        assert str(review.code) == won.json()["review"]["id"]
        assert history(check) == ["failed", "failed"]
        sound(run)


def test_ten_fails_at_once_are_three_attempts(
    start: Callable[[], str], robots: list[httpx.Client]
) -> None:
    run = start()
    check = open_new_check(robots[0], run, "thrice", step=0)
    answers = at_once(*(partial(say, one, run, check, FAIL) for one in robots))
    counted = [answer.json() for answer in answers if answer.status_code == 200]
    assert Counter(one["outcome"] for one in counted) == {"retry": 2, "exhausted": 1}
    assert sorted(one["attempts_left"] for one in counted) == [0, 1, 2]
    refused = [slug(answer) for answer in answers if answer.status_code != 200]
    assert refused == ["run-paused"] * 7
    assert history(check) == ["failed"] * 3
    assert Review.objects.filter(run__code=run).count() == 1
    sound(run)


def test_a_pass_and_a_fail_at_once_have_one_order(
    start: Callable[[], str], robots: list[httpx.Client]
) -> None:
    for _ in range(ROUNDS):
        run = start()
        check = open_new_check(robots[0], run, "twice", step=0)
        passed, failed = at_once(
            partial(say, robots[0], run, check, PASS),
            partial(say, robots[1], run, check, FAIL),
        )
        assert passed.json()["outcome"] == "passed"
        if failed.status_code == 200:
            assert history(check) == ["failed", "passed"]
        else:
            assert slug(failed) == "already-ruled"
            assert history(check) == ["passed"]
        sound(run)


@pytest.mark.parametrize("action", ["retry", "skip"])
def test_a_verdict_against_a_ruling(
    start: Callable[[], str],
    robots: list[httpx.Client],
    reviewer: httpx.Client,
    action: str,
) -> None:
    """A verdict before the ruling is refused; one behind it finds what was ruled."""
    for _ in range(ROUNDS):
        run = start()
        check = open_new_check(robots[0], run, "twice", step=0)
        fail(robots[0], run, check)
        last = fail(robots[0], run, check)
        verdict, ruled = at_once(
            partial(say, robots[0], run, check, PASS),
            partial(rule, reviewer, last, action, note="Known flake"),
        )
        assert ruled.status_code == 200, ruled.text
        if verdict.status_code == 200:
            assert (action, verdict.json()["outcome"]) == ("retry", "passed")
            assert history(check) == ["failed", "failed", "reset", "passed"]
        else:
            behind = {"retry": set(), "skip": {"already-ruled"}}[action]
            assert slug(verdict) in {"run-paused"} | behind
            end = {"retry": "open", "skip": "skipped"}[action]
            assert get_status(check) == end
        sound(run)


def test_an_exhausting_fail_against_an_abort(
    start: Callable[[], str], robots: list[httpx.Client], reviewer: httpx.Client
) -> None:
    """However it goes, the run is over and nobody is asked any more."""
    for _ in range(ROUNDS):
        run = start()
        check = open_new_check(robots[0], run, "twice", step=0)
        fail(robots[0], run, check)
        verdict, aborted = at_once(
            partial(say, robots[0], run, check, FAIL),
            partial(reviewer.post, f"/runs/{run}/abort", json={"reason": "Enough"}),
        )
        assert aborted.status_code == 200, aborted.text
        states = list(
            Review.objects.filter(run__code=run).values_list("state", flat=True)
        )
        if verdict.status_code == 200:
            assert verdict.json()["outcome"] == "exhausted"
            assert states == [ReviewState.SUPERSEDED]
        else:
            assert slug(verdict) == "run-closed"
            assert states == []
        assert robots[0].get(f"/runs/{run}").json()["status"] == "aborted"
        assert slug(say(robots[0], run, check, PASS)) == "run-closed"
        sound(run)


def test_two_rulings_at_once_are_one(
    start: Callable[[], str],
    robots: list[httpx.Client],
    reviewer: httpx.Client,
    manager: httpx.Client,
) -> None:
    for _ in range(ROUNDS):
        run = start()
        check = open_new_check(robots[0], run, "twice", step=0)
        fail(robots[0], run, check)
        last = fail(robots[0], run, check)
        answers = at_once(
            partial(rule, reviewer, last, "retry", note="Once more"),
            partial(rule, manager, last, "skip", note="Known flake"),
        )
        assert sorted(answer.status_code for answer in answers) == [200, 409]
        end = "reset" if answers[0].status_code == 200 else "skipped"
        assert history(check) == ["failed", "failed", end]
        sound(run)


def test_questions_asked_by_turns_at_once_are_one(
    start: Callable[[], str], robots: list[httpx.Client]
) -> None:
    run = start()
    body = {"finish_reason": "stop", "content": "Shall I drop the table?"}
    asks = [partial(one.post, f"/runs/{run}/turns", json=body) for one in robots]
    answers = at_once(*asks)
    assert Counter(answer.status_code for answer in answers) == {201: 1, 409: 9}
    assert Review.objects.filter(run__code=run).count() == 1
    sound(run)


def test_turns_sent_on_at_once_are_counted_one_by_one(
    start: Callable[[], str], robots: list[httpx.Client]
) -> None:
    run = start()
    body = {
        "finish_reason": "tool_calls",
        "last_event": "tool_result",
        "content": "Now I need to fix the second file.",
    }
    asks = [partial(one.post, f"/runs/{run}/turns", json=body) for one in robots]
    told = [answer.json() for answer in at_once(*asks) if answer.status_code == 201]
    actions = Counter(one["action"] for one in told)
    assert actions == {"auto_continue": 3, "needs_human": 1}
    assert sorted(one["retries_used"] for one in told) == [1, 2, 3, 3]
    sound(run)
