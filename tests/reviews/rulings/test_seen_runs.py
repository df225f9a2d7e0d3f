"""A ruling is decided on the run as it was read, if nothing has moved until it is stored."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import httpx
import psycopg
import pytest
from django.db import DatabaseError, OperationalError, connection

from ledger.models import Entry, Run
from ledger.verification.verify import verify_run_and_rows
from ledger.writer import seen_runs
from ledger.writer.changes import SeenRun
from ledger.writer.state_cache import StateCache
from reviews import services
from reviews.models import Review, Ruling
from reviews.selectors import get_review_for_ruling
from tests.gateway.calls.calls import command
from tests.support.builders import pause_at_once, start_run, step
from tests.support.people import rule
from tests.support.problems import problem

pytestmark = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="SQLite's own lock comes first."
)
Found = tuple[Review, SeenRun | None]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A minute may pass between reading and storing, not a quarter of a second."""
    monkeypatch.setattr(seen_runs, "LONGEST", "60 seconds")
    seen_runs._write_statement.cache_clear()
    yield
    seen_runs._write_statement.cache_clear()


@pytest.fixture
def locked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The runs that were locked to be decided on."""
    codes: list[str] = []
    lock = StateCache.lock

    def lock_run(cache: StateCache, code: str) -> Any:
        codes.append(code)
        return lock(cache, code)

    monkeypatch.setattr(StateCache, "lock", lock_run)
    return codes


def meddle(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[SeenRun], SeenRun | None]
) -> None:
    """Something happens between reading and storing."""

    def read(**named: Any) -> Found:
        review, seen = get_review_for_ruling(**named)
        assert seen is not None
        return review, change(seen)

    monkeypatch.setattr(services, "get_review_for_ruling", read)


def check_run(code: str) -> None:
    found = verify_run_and_rows(Run.objects.get(code=code))
    assert found.ok, found.reason


def test_a_plain_ruling_takes_no_lock_and_leaves_what_the_lock_leaves(
    agent: httpx.Client,
    reviewer: httpx.Client,
    locked: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept: list[dict[str, Any]] = []
    for change in (lambda seen: seen, lambda _seen: None):
        run = start_run(agent)
        review = pause_at_once(agent, run)
        locked.clear()
        meddle(monkeypatch, change)
        rule(reviewer, review, "approve", note="Fine")
        assert locked == ([] if not kept else [run])
        check_run(run)
        told = agent.get(f"/runs/{run}/decision").json()
        entries = Entry.objects.filter(run__code=run).order_by("seq")
        kept.append(
            {
                "status": told["run_status"],
                "ruling": {**told["ruling"], "id": "", "at": ""},
                "types": [entry.type for entry in entries],
                "closed": Review.objects.get(code=review).state,
            }
        )
        assert agent.post(f"/runs/{run}/steps", json=step(2)).status_code == 201
    assert kept[0] == kept[1]


def test_a_call_is_approved_with_its_grant_and_its_count(
    agent: httpx.Client, reviewer: httpx.Client, locked: list[str]
) -> None:
    run = start_run(agent)
    asked = command(agent, run)
    locked.clear()
    rule(reviewer, asked["review"]["id"], "approve")
    assert locked == []
    check_run(run)
    told = agent.get(f"/runs/{run}/decision").json()
    assert told["ruling"]["grant"]


def test_a_run_that_has_moved_is_read_again_under_the_lock(
    agent: httpx.Client,
    reviewer: httpx.Client,
    locked: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = start_run(agent)
    review = pause_at_once(agent, run)

    def add_note(seen: SeenRun) -> SeenRun:
        said = reviewer.post(f"/runs/{run}/notes", json={"text": "Wait."})
        assert said.status_code < 300, said.text
        locked.clear()
        return seen

    meddle(monkeypatch, add_note)
    rule(reviewer, review, "approve")
    assert locked == [run]
    assert Ruling.objects.filter(review__code=review).count() == 1
    check_run(run)


def test_who_is_second_is_told_what_the_first_has_ruled(
    agent: httpx.Client,
    reviewer: httpx.Client,
    manager: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = start_run(agent)
    review = pause_at_once(agent, run)

    def rule_first(seen: SeenRun) -> SeenRun:
        monkeypatch.setattr(services, "get_review_for_ruling", get_review_for_ruling)
        rule(manager, review, "abort")
        return seen

    meddle(monkeypatch, rule_first)
    row = Review.objects.get(code=review)
    said = {"action": "approve", "version": 1, "content_digest": row.content_digest}
    late = reviewer.post(f"/reviews/{review}/ruling", json=said)
    assert problem(late, "already-ruled")["ruling"]["action"] == "abort"
    check_run(run)


@pytest.mark.parametrize("what", ["clock", "halts"])
def test_an_old_clock_and_other_halts_are_not_decided_by(
    agent: httpx.Client,
    reviewer: httpx.Client,
    locked: list[str],
    monkeypatch: pytest.MonkeyPatch,
    what: str,
) -> None:
    run = start_run(agent)
    review = pause_at_once(agent, run)

    def change(seen: SeenRun) -> SeenRun:
        if what == "halts":
            return seen._replace(halts_version=seen.halts_version + 1)
        return seen._replace(at=seen.at - timedelta(seconds=60))

    locked.clear()
    meddle(monkeypatch, change)
    rule(reviewer, review, "approve")
    assert locked == [run]
    check_run(run)


def test_a_ruling_is_dated_when_it_is_decided_not_when_its_run_was_read(
    agent: httpx.Client,
    reviewer: httpx.Client,
    locked: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = start_run(agent)
    review = pause_at_once(agent, run)
    read: list[SeenRun] = []

    def wait(seen: SeenRun) -> SeenRun:
        read.append(seen)
        time.sleep(0.05)
        return seen

    locked.clear()
    meddle(monkeypatch, wait)
    rule(reviewer, review, "approve")
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (now,) = cursor.fetchone()

    assert locked == []
    dated = Ruling.objects.get(review__code=review).at
    assert read[0].at + timedelta(seconds=0.05) <= dated <= now
    check_run(run)


def test_what_somebody_else_has_claimed_takes_the_lock(
    agent: httpx.Client,
    reviewer: httpx.Client,
    manager: httpx.Client,
    locked: list[str],
) -> None:
    run = start_run(agent)
    review = pause_at_once(agent, run)
    assert manager.post(f"/reviews/{review}/claim").status_code == 200
    locked.clear()
    rule(reviewer, review, "approve")
    assert locked == [run]
    check_run(run)


@pytest.mark.parametrize(
    ("state", "is_known"),
    [
        *(("23505", True), ("40P01", True), ("55P03", True), ("40003", False)),
        *(("57P01", False), ("08006", False), (None, False)),
    ],
)
def test_only_what_the_database_refused_is_known_not_to_be_done(
    state: str | None, is_known: bool
) -> None:
    error = DatabaseError()
    error.__cause__ = psycopg.Error()
    error.__cause__.sqlstate = state
    assert seen_runs._was_refused(error) == is_known


def test_a_ruling_that_the_database_refuses_is_tried_again(
    agent: httpx.Client,
    reviewer: httpx.Client,
    locked: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = start_run(agent)
    review = pause_at_once(agent, run)

    def refuse(*_given: object) -> None:
        error = OperationalError("deadlock detected")
        error.__cause__ = psycopg.errors.DeadlockDetected()
        raise error

    monkeypatch.setattr(seen_runs, "_store", refuse)
    locked.clear()
    rule(reviewer, review, "approve")
    assert locked == [run]
    check_run(run)
