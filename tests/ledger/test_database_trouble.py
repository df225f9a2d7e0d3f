"""The database is slow, locked or cut off: agents wait or are told, nothing is lost."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Event
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from django.db import connection, transaction
from django.db.utils import OperationalError

from accounts.models import User
from ledger.models import Run
from ledger.verification.verify import verify_run
from ledger.writer import batch
from ledger.writer.batch import Committer
from ledger.writer.state_cache import StateCache
from reviews.models import Review, Ruling
from reviews.rulings.rule import RuleReview
from tests.support.builders import pause_at_once, start_run, step
from tests.support.people import get_seen, rule
from tests.support.threads import Threads
from tests.support.waiting import park, until


def test_steps_wait_for_another_writer_of_sqlite(agent: httpx.Client) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL locks rows, not files.")
    runs = [start_run(agent) for _ in range(8)]
    path = connection.settings_dict["NAME"]
    sent = Event()

    def report(run: str) -> int:
        sent.set()
        return agent.post(f"/runs/{run}/steps", json=step(1)).status_code

    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        other.execute("BEGIN IMMEDIATE")
        with Threads(8) as pool:
            answers = [pool.submit(report, run) for run in runs]
            assert sent.wait(timeout=10)
            with pytest.raises(TimeoutError):
                answers[0].result(timeout=0.5)
            other.execute("ROLLBACK")
            assert [answer.result(timeout=60) for answer in answers] == [201] * 8
    finally:
        other.close()


def cut_connections() -> None:
    """PostgreSQL hangs up on everybody but us."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def stored_steps(run: str) -> int:
    return Run.objects.values_list("steps", flat=True).get(code=run)


def test_connections_that_are_cut_lose_nothing(agent: httpx.Client) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no connections to cut.")
    run = start_run(agent)
    done = Event()

    def report() -> int:
        """Report for ever, and the same step again when it was not taken."""
        number = 1
        while not done.is_set() or number < 20:
            body = step(number, tokens=1, checkpoint=True)
            answer = agent.post(f"/runs/{run}/steps", json=body)
            if answer.status_code == 201:
                number += 1
            else:
                assert answer.status_code == 503, answer.text
                assert int(answer.headers["retry-after"]) > 0
                done.wait(0.02)  # asking on and on would only keep the machine busy
        return number - 1

    def read() -> set[int]:
        statuses = set()
        while not done.wait(0.02):
            statuses.add(agent.get(f"/runs/{run}").status_code)
            statuses.add(agent.get(f"/runs/{run}/decision").status_code)
        return statuses

    with Threads(2) as pool:
        reporter, reader = pool.submit(report), pool.submit(read)
        for _ in range(5):
            cut_connections()
            goal = stored_steps(run) + 3
            until(lambda goal=goal: stored_steps(run) >= goal)  # type: ignore[misc]
        done.set()
        steps = reporter.result(timeout=60)
        assert reader.result(timeout=60) <= {200, 503}

    stored = Run.objects.get(code=run)
    assert stored.steps == steps
    assert verify_run(stored).ok


def test_a_waiting_agent_is_woken_after_the_line_was_cut(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no connections to cut.")
    run = start_run(agent)
    review = pause_at_once(agent, run)
    parked = park(agent, run)

    body = {"action": "approve", **get_seen(reviewer, review)}

    def is_ruled() -> bool:
        answer = reviewer.post(f"/reviews/{review}/ruling", json=body)
        if answer.status_code == 503:  # it may have been done: look, then rule again
            assert int(answer.headers["retry-after"]) > 0
            state: str = reviewer.get(f"/reviews/{review}").json()["state"]
            return state == "ruled"
        assert answer.status_code == 200, answer.text
        return True

    cut_connections()
    until(is_ruled)

    assert parked.result(timeout=60).json()["state"] == "ruled"


@pytest.fixture
def _lock_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rulings are decided under the lock, as all are that rest on more than their run."""
    monkeypatch.setattr(batch, "commit_seen", lambda *_given: None)


@pytest.mark.usefixtures("_lock_first")
def test_what_fails_before_its_commit_is_done_all_the_same(
    agent: httpx.Client, reviewer: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    review = pause_at_once(agent, start_run(agent))
    under_lock = Committer._commit_locked
    failed: list[object] = []

    def fails_once(committer: Committer, request: Any) -> Any:
        if isinstance(request, RuleReview) and not failed:
            failed.append(request)
            raise OperationalError("The line was cut.")
        return under_lock(committer, request)

    monkeypatch.setattr(Committer, "_commit_locked", fails_once)

    assert rule(reviewer, review, "approve")["state"] == "ruled"
    assert len(failed) == 1


@pytest.fixture
def lose_next_commit(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Once it is called, the next commit goes through and its answer does not."""
    cut: list[bool] = []

    @contextmanager
    def atomic() -> Iterator[None]:
        with transaction.atomic():
            yield
        if cut:
            cut.clear()
            raise OperationalError("The line was cut.")

    monkeypatch.setattr(batch, "transaction", SimpleNamespace(atomic=atomic))
    return lambda: cut.append(True)


@pytest.mark.usefixtures("_lock_first")
def test_who_may_have_been_heard_is_told_to_look(
    agent: httpx.Client, reviewer: httpx.Client, lose_next_commit: Callable[[], None]
) -> None:
    """That must not be done twice."""
    review = pause_at_once(agent, start_run(agent))
    body = {"action": "approve", **get_seen(reviewer, review)}

    lose_next_commit()
    answer = reviewer.post(f"/reviews/{review}/ruling", json=body)

    assert answer.status_code == 503
    assert "may or may not" in answer.json()["detail"]
    assert reviewer.get(f"/reviews/{review}").json()["state"] == "ruled"


def test_what_was_sent_with_a_key_is_done_once_and_answered(
    agent: httpx.Client, lose_next_commit: Callable[[], None]
) -> None:
    """By its key the second try finds what the first one has done."""
    lose_next_commit()
    answer = agent.post("/runs", json={"task": "t"}, headers={"Idempotency-Key": "k"})

    assert answer.status_code == 201, answer.text
    assert [each["id"] for each in agent.get("/runs").json()["items"]] == [
        answer.json()["id"]
    ]


def test_what_the_database_refuses_was_not_done(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    """All that belongs to a ruling is one statement, done as a whole or not at all."""
    run = start_run(agent)
    review = pause_at_once(agent, run)
    body = {"action": "approve", **get_seen(reviewer, review)}
    row = Review.objects.get(code=review)
    by = User.objects.latest("pk")
    Ruling.objects.create(review=row, action="skip", by=by, at=row.opened_at)

    answer = reviewer.post(f"/reviews/{review}/ruling", json=body)

    assert answer.status_code == 503
    assert "may or may not" not in answer.json()["detail"]
    assert reviewer.get(f"/reviews/{review}").json()["state"] == "open"
    assert verify_run(Run.objects.get(code=run)).ok
    other = pause_at_once(agent, start_run(agent))
    assert rule(reviewer, other, "approve")["state"] == "ruled"


@pytest.mark.usefixtures("_lock_first")
def test_a_run_that_moved_is_not_overwritten(
    agent: httpx.Client, reviewer: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It cannot move while its project is held; if it ever does, nothing is written."""
    review = pause_at_once(agent, start_run(agent))
    held = StateCache.lock

    def stale(states: StateCache, code: str) -> Any:
        at, run = held(states, code)
        return at, replace(run, head_hash="0" * 64)

    with monkeypatch.context() as patched:
        patched.setattr(StateCache, "lock", stale)
        body = {"action": "approve", **get_seen(reviewer, review)}
        assert reviewer.post(f"/reviews/{review}/ruling", json=body).status_code == 503

    assert not Ruling.objects.filter(review__code=review).exists()
    assert rule(reviewer, review, "approve")["state"] == "ruled"
