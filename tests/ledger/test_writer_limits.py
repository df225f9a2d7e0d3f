"""The writer's promises in bad moments: too much at once, a clock set back, trouble."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import httpx
import psycopg
import pytest
import time_machine
from django.db import connection
from django.db.utils import OperationalError
from django.utils import timezone

from gateway.schemas.runs import StepIn
from gateway.use_cases.steps import ReportSteps, build_report
from ledger.models import Entry, Run
from ledger.verification.verify import verify_run
from ledger.waiting.hub import close_hub, get_hub
from ledger.writer import Writer, get_writer, thread
from ledger.writer.batch import Committer
from ledger.writer.state_cache import StateCache
from tests.support.builders import Robot, pause_at_once, start_run, step
from tests.support.people import rule
from tests.support.processes import database_url


def report(agent: httpx.Client, run: str, number: int, **more: Any) -> httpx.Response:
    return agent.post(f"/runs/{run}/steps", json=step(number, **more))


def test_too_many_that_wait_are_told_to_come_again(
    agent: httpx.Client, reviewer: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start_run(agent)
    with monkeypatch.context() as patched:
        patched.setattr(thread, "QUEUE_LIMIT", 0)
        refused = [
            report(agent, run, 1),
            agent.post("/runs", json={"task": "One more"}),
            reviewer.post(f"/runs/{run}/abort", json={}),
        ]
    for answer in refused:
        assert answer.status_code == 503, answer.text
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["type"] == "/problems/unavailable"
        assert int(answer.headers["retry-after"]) > 0
    # What was refused was not done, and may be sent again.
    assert Entry.objects.filter(run__code=run).count() == 1
    assert report(agent, run, 1).status_code == 201


@pytest.fixture
def other_writer(database: None) -> Iterator[Writer]:
    """Another process, as far as the ledger can tell."""
    made = Writer()
    yield made
    made.close()


def test_time_does_not_run_backwards_in_a_chain(
    agent: httpx.Client,
    reviewer: httpx.Client,
    robo: Robot,
    other_writer: Writer,
) -> None:
    run = start_run(agent)
    assert report(agent, run, 1).status_code == 201
    body = StepIn(**step(2))
    other_writer.perform_now(
        ReportSteps(agent=robo.principal, run_code=run, reports=[build_report(body)])
    )

    with time_machine.travel(timezone.now() - timedelta(minutes=1)):
        # On a state that is read anew, on one that is remembered, and under the lock.
        assert report(agent, run, 3).status_code == 201
        assert report(agent, run, 4).status_code == 201
        rule(reviewer, pause_at_once(agent, run, number=5), "approve")
        assert report(agent, run, 6).status_code == 201

    row = Run.objects.get(code=run)
    times = list(row.entries.order_by("seq").values_list("at", flat=True))
    assert times == sorted(times)
    assert row.updated_at == times[-1]
    assert verify_run(row).ok


def test_a_database_error_while_judging_is_tried_again(
    agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start_run(agent)
    get = StateCache.get
    failed: list[str] = []

    def fails_once(states: StateCache, code: str) -> Any:
        if code == run and not failed:
            failed.append(code)
            raise OperationalError("The line was cut.")
        return get(states, code)

    monkeypatch.setattr(StateCache, "get", fails_once)

    assert report(agent, run, 1).status_code == 201
    assert failed == [run]


def test_after_trouble_the_writer_reads_what_it_remembered(
    agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is believed any more, not even of a run that had no part in it."""
    runs = unlucky, other = start_run(agent), start_run(agent)
    for run in runs:
        report(agent, run, 1)
    fresh, begin = StateCache.read, Committer.begin
    read: list[str] = []
    failed: list[object] = []

    def reads(states: StateCache, code: str) -> Any:
        read.append(code)
        return fresh(states, code)

    def fails_once(committer: Committer, judged: Any) -> Any:
        if not failed:
            failed.append(judged)
            raise OperationalError("The line was cut.")
        return begin(committer, judged)

    monkeypatch.setattr(StateCache, "read", reads)
    report(agent, other, 2)
    assert read == []

    monkeypatch.setattr(Committer, "begin", fails_once)
    assert report(agent, unlucky, 2).status_code == 201
    assert report(agent, other, 3).status_code == 201

    assert len(failed) == 1
    assert read == [unlucky, other]


def test_after_trouble_no_notification_is_taken_for_our_own(
    agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite tells nobody.")
    run = start_run(agent)
    report(agent, run, 1)
    assert get_writer().session is not None

    def fails(_committer: Committer, _judged: Any) -> Any:
        raise ValueError("Of our own making.")

    with monkeypatch.context() as patched:
        patched.setattr(Committer, "begin", fails)
        assert report(agent, run, 2).status_code == 500

    assert get_writer().session is None
    assert report(agent, run, 2).status_code == 201


def test_a_step_that_stops_its_run_tells_other_processes(agent: httpx.Client) -> None:
    """Whoever waits there is woken by this, and does not wait for the re-check."""
    if connection.vendor != "postgresql":
        pytest.skip("On SQLite there is one process.")
    run = start_run(agent)
    row = str(Run.objects.get(code=run).pk)
    with psycopg.connect(database_url(), autocommit=True) as listener:
        listener.execute("LISTEN checkrail")
        assert report(agent, run, 1).status_code == 201
        assert report(agent, run, 2, coherence=0.1).json()["decision"] == "stop"
        told = [each.payload for each in listener.notifies(timeout=10, stop_after=1)]
    assert told == [row]


@pytest.fixture
def run_and_head(agent: httpx.Client) -> tuple[int, int]:
    run = start_run(agent)
    report(agent, run, 1)
    row = Run.objects.get(code=run)
    return row.pk, row.head_seq


async def test_of_two_who_wait_the_one_who_read_less_is_woken(
    run_and_head: tuple[int, int],
) -> None:
    """The run moved between the two reads: who read first must be told of it."""
    run_id, head = run_and_head
    try:
        for reads in ((head - 1, head), (head, head - 1)):
            waiting = [get_hub().add_follower(run_id) for _ in reads]
            for read in reads:
                get_hub().note_head(run_id, read)
            get_hub().nudge()
            async with asyncio.timeout(60):
                await asyncio.gather(*waiting)
    finally:
        await close_hub()
