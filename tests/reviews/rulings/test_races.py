"""Two at once on both databases: one outcome, and everybody is told the same."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import httpx

from accounts.models import Project
from reviews.rulings.expiry import expire_due_reviews
from tests.support.builders import make_policy, pause_at_once, start_run, step
from tests.support.examples import part
from tests.support.people import get_seen
from tests.support.problems import problem
from tests.support.threads import Threads, at_once
from tests.support.waiting import until

ROUNDS = part(20, least=8)
Call = Callable[[], httpx.Response]


def ruling(client: httpx.Client, review: str, action: str) -> Call:
    body = {"action": action, **get_seen(client, review)}
    return lambda: client.post(f"/reviews/{review}/ruling", json=body)


def abort(client: httpx.Client, run: str) -> Call:
    return lambda: client.post(f"/runs/{run}/abort", json={"reason": "stop"})


def report(client: httpx.Client, run: str, number: int, tokens: int = 1000) -> Call:
    body = step(number, tokens=tokens)
    return lambda: client.post(f"/runs/{run}/steps", json=body)


def test_two_reviewers_approve_and_one_wins(
    agent: httpx.Client,
    reviewer: httpx.Client,
    manager: httpx.Client,
) -> None:
    for _ in range(ROUNDS):
        run = start_run(agent)
        review = pause_at_once(agent, run)

        answers = at_once(
            ruling(reviewer, review, "approve"),
            ruling(manager, review, "approve"),
        )

        won, lost = sorted(answers, key=lambda answer: answer.status_code)
        assert won.status_code == 200
        assert problem(lost, "already-ruled")["ruling"] == won.json()["ruling"]
        told = agent.get(f"/runs/{run}/decision").json()
        assert told["ruling"] == won.json()["ruling"]
        assert told["run_status"] == "running"


def test_approve_and_abort_have_one_outcome(
    agent: httpx.Client,
    reviewer: httpx.Client,
    manager: httpx.Client,
) -> None:
    for _ in range(ROUNDS):
        run = start_run(agent)
        review = pause_at_once(agent, run)

        answers = at_once(
            ruling(reviewer, review, "approve"), ruling(manager, review, "abort")
        )

        won, lost = sorted(answers, key=lambda answer: answer.status_code)
        assert problem(lost, "already-ruled")["ruling"] == won.json()["ruling"]
        told = agent.get(f"/runs/{run}/decision").json()
        assert told["ruling"] == won.json()["ruling"]
        approved = told["ruling"]["action"] == "approve"
        assert told["run_status"] == ("running" if approved else "aborted")


def test_a_human_stop_holds_whatever_is_approved_beside_it(
    agent: httpx.Client,
    reviewer: httpx.Client,
    manager: httpx.Client,
) -> None:
    for _ in range(ROUNDS):
        run = start_run(agent)
        review = pause_at_once(agent, run)

        approval, stop = at_once(
            ruling(reviewer, review, "approve"), abort(manager, run)
        )

        assert stop.status_code == 200
        told = agent.get(f"/runs/{run}/decision").json()
        assert told["run_status"] == "aborted"
        if approval.status_code == 200:
            assert told["state"] == "ruled"
        else:
            assert problem(approval, "already-ruled")["state"] == "superseded"
            assert told["state"] == "superseded"


def test_a_double_click_rules_once(agent: httpx.Client, reviewer: httpx.Client) -> None:
    run = start_run(agent)
    review = pause_at_once(agent, run)
    click = ruling(reviewer, review, "approve")

    answers = at_once(*[click] * 5)

    assert Counter(answer.status_code for answer in answers) == {200: 1, 409: 4}
    assert reviewer.get(f"/reviews/{review}").json()["version"] == 2


def test_a_ruling_at_the_last_moment_wins_or_comes_too_late(
    agent: httpx.Client,
    reviewer: httpx.Client,
    project: Project,
) -> None:
    """Rulings land around the end of their time while a sweep is at work."""
    make_policy("hasty", project=project, reviews={"expires_after_s": 1})
    made = []
    for number in range(8):
        run = start_run(agent, policy="hasty")
        review = pause_at_once(agent, run)
        due = datetime.fromisoformat(
            reviewer.get(f"/reviews/{review}").json()["due_at"]
        )
        moment = due + timedelta(milliseconds=(number - 4) * 8)
        made.append((run, review, moment, ruling(reviewer, review, "approve")))

    def at(moment: datetime, call: Call) -> httpx.Response:
        time.sleep(max(0.0, (moment - datetime.now(UTC)).total_seconds()))
        return call()

    def swept() -> bool:
        expire_due_reviews()
        return all(answer.done() for answer in answers)

    with Threads(len(made)) as pool:
        answers = [pool.submit(at, moment, call) for _, _, moment, call in made]
        until(swept)
    until(lambda: not any(_open(reviewer, review) for _, review, _, _ in made))
    for (run, _, _, _), answer in zip(made, answers, strict=True):
        told = agent.get(f"/runs/{run}/decision").json()
        if answer.result().status_code == 200:
            assert (told["state"], told["run_status"]) == ("ruled", "running")
            assert told["ruling"]["at"] < answer.result().json()["due_at"]
        else:
            problem(answer.result(), "review-expired")
            assert (told["state"], told["run_status"]) == ("expired", "aborted")


def _open(reviewer: httpx.Client, review: str) -> bool:
    expire_due_reviews()
    return bool(reviewer.get(f"/reviews/{review}").json()["state"] == "open")


def test_the_same_step_at_once_is_one_step(agent: httpx.Client) -> None:
    run = start_run(agent)
    for number in range(1, ROUNDS + 1):
        answers = at_once(*[report(agent, run, number)] * 4)
        assert {answer.status_code for answer in answers} == {201}
        assert len({answer.content for answer in answers}) == 1

    assert agent.get(f"/runs/{run}").json()["head"]["seq"] == ROUNDS + 1


def test_two_bodies_for_one_step_at_once_are_one_step_and_a_conflict(
    agent: httpx.Client,
) -> None:
    run = start_run(agent)
    for number in range(1, ROUNDS + 1):
        calls = [report(agent, run, number, tokens) for tokens in (1, 2, 3)]
        answers = sorted(at_once(*calls), key=lambda each: each.status_code)
        assert answers[0].status_code == 201
        for loser in answers[1:]:
            problem(loser, "step-conflict")

    assert agent.get(f"/runs/{run}").json()["steps"] == ROUNDS


def test_a_step_comes_before_the_stop_or_not_at_all(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    for _ in range(ROUNDS):
        run = start_run(agent)

        taken, stop = at_once(report(agent, run, 1), abort(reviewer, run))

        assert stop.status_code == 200
        stored = agent.get(f"/runs/{run}").json()
        assert stored["status"] == "aborted"
        if taken.status_code == 201:
            assert stored["steps"] == 1
        else:
            problem(taken, "run-closed")
            assert stored["steps"] == 0
        types = [
            line.split('"type":"')[1].split('"')[0]
            for line in agent.get(f"/runs/{run}/ledger").text.splitlines()
        ]
        assert types[-1] == "run.aborted"


def test_finish_and_a_question_at_once_leave_one_of_both(agent: httpx.Client) -> None:
    for _ in range(ROUNDS):
        run = start_run(agent)

        def ask(run: str = run) -> httpx.Response:
            body = {"kind": "question", "title": "?"}
            return agent.post(f"/runs/{run}/reviews", json=body)

        def finish(run: str = run) -> httpx.Response:
            return agent.post(f"/runs/{run}/finish", json={"outcome": "completed"})

        asked, finished = at_once(ask, finish)

        status = agent.get(f"/runs/{run}").json()["status"]
        if asked.status_code == 201:
            problem(finished, "review-open")
            assert status == "paused"
        else:
            problem(asked, "run-closed")
            assert status == "completed"
