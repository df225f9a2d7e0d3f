"""Two web processes on one PostgreSQL: one order, and each hears of the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Event

import httpx
import pytest
from django.db import connection

from accounts.models import Project
from ledger.models import Run
from ledger.verification.replay import replay_run
from ledger.verification.verify import verify_run
from ledger.waiting import hub
from tests.config.fastpath.streams import listen, until_parked
from tests.conftest import client_for
from tests.ledger.test_parallel_agents import watch_positions
from tests.support.builders import Person, Robot, pause_at_once, start_run, step
from tests.support.live import Live
from tests.support.people import get_seen, rule
from tests.support.problems import problem
from tests.support.processes import another_web_process
from tests.support.threads import Threads, at_once
from tests.support.waiting import park

STEPS = 40


@pytest.fixture(scope="module")
def other(live: Live) -> Iterator[Live]:
    if connection.vendor != "postgresql":
        pytest.skip("On SQLite there is one process.")
    with another_web_process() as process:
        yield process.live


@pytest.fixture
def there(other: Live, robo: Robot) -> Iterator[httpx.Client]:
    """The same agent at the other process."""
    with client_for(other, robo) as client:
        yield client


def test_steps_of_the_same_runs_through_both_keep_one_order(
    agent: httpx.Client, there: httpx.Client, project: Project
) -> None:
    runs = [start_run(agent) for _ in range(3)]
    done = Event()

    def report(client: httpx.Client, run: str) -> list[bytes]:
        answers = []
        for number in range(1, STEPS + 1):
            body = step(number, tokens=1, checkpoint=True)
            answer = client.post(f"/runs/{run}/steps", json=body)
            assert answer.status_code == 201, answer.text
            answers.append(answer.content)
        return answers

    with Threads(7) as pool:
        watcher = pool.submit(watch_positions, project, done)
        pairs = [
            (pool.submit(report, agent, run), pool.submit(report, there, run))
            for run in runs
        ]
        try:
            for ours, theirs in pairs:
                assert ours.result() == theirs.result()
        finally:
            done.set()

    assert watcher.result() == 3 * (STEPS + 1)
    for run in Run.objects.filter(project=project):
        assert run.steps == STEPS
        assert verify_run(run).ok
        assert replay_run(run).difference is None


def test_a_long_poll_here_hears_of_a_ruling_there(
    agent: httpx.Client, other: Live, bob: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing_moved(_run_ids: list[int]) -> dict[int, int]:
        return {}  # so that the re-check cannot be what wakes the waiter

    monkeypatch.setattr(hub, "_get_heads", nothing_moved)
    run = start_run(agent)
    review = pause_at_once(agent, run)
    parked = park(agent, run)

    with client_for(other, bob) as reviewer:
        ruling = rule(reviewer, review, "approve")["ruling"]

    assert parked.result(timeout=60).json()["ruling"] == ruling


def test_a_long_poll_there_hears_of_a_ruling_here(
    agent: httpx.Client, there: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    review = pause_at_once(agent, run)
    with Threads(1) as pool:
        parked = pool.submit(there.get, f"/runs/{run}/decision?wait=20")
        ruling = rule(reviewer, review, "approve")["ruling"]

        assert parked.result(timeout=60).json()["ruling"] == ruling


def test_a_stream_here_hears_of_everyday_steps_there(
    agent: httpx.Client, there: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told of each, so it need not wait for the slow re-check."""
    told = Event()
    nudge = hub.Hub.nudge

    def note_and_nudge(waiting: hub.Hub) -> None:
        nudge(waiting)
        told.set()

    monkeypatch.setattr(hub.Hub, "nudge", note_and_nudge)
    run = start_run(agent)
    with listen(agent, run) as heard:
        heard.entry()
        for number in (1, 2, 3, 4):
            until_parked(run)
            told.clear()
            there.post(f"/runs/{run}/steps", json=step(number))
            assert told.wait(30)
            assert heard.entry()["payload"]["report"]["number"] == number


def test_two_reviewers_at_two_processes_have_one_winner(
    agent: httpx.Client, other: Live, bob: Person, reviewer: httpx.Client
) -> None:
    with client_for(other, bob) as elsewhere:
        for _ in range(10):
            review = pause_at_once(agent, start_run(agent))
            body = {"action": "approve", **get_seen(reviewer, review)}

            def send(
                client: httpx.Client, body: object = body, review: str = review
            ) -> Callable[[], httpx.Response]:
                return lambda: client.post(f"/reviews/{review}/ruling", json=body)

            answers = at_once(send(reviewer), send(elsewhere))

            won, lost = sorted(answers, key=lambda answer: answer.status_code)
            assert won.status_code == 200
            assert problem(lost, "already-ruled")["ruling"] == won.json()["ruling"]


def test_a_key_used_at_two_processes_has_one_effect(
    agent: httpx.Client, there: httpx.Client
) -> None:
    def start(client: httpx.Client) -> httpx.Response:
        return client.post(
            "/runs", json={"task": "t"}, headers={"Idempotency-Key": "both"}
        )

    answers = at_once(*[lambda: start(agent), lambda: start(there)] * 4)

    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert len(agent.get("/runs").json()["items"]) == 1


def test_what_one_process_remembers_of_a_run_does_not_mislead_it(
    agent: httpx.Client, there: httpx.Client, other: Live, bob: Person
) -> None:
    """Each has judged this run before and must notice that the other went on."""
    run = start_run(agent)
    for number in range(1, 7):
        client = agent if number % 2 else there
        answer = client.post(f"/runs/{run}/steps", json=step(number))
        assert answer.status_code == 201, answer.text
    with client_for(other, bob) as reviewer:
        reviewer.post(f"/runs/{run}/abort", json={})

    problem(agent.post(f"/runs/{run}/steps", json=step(7)), "run-closed")
