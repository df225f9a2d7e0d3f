"""Deadlines stand still while a halt stands, and what was open gets its time back."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.utils import timezone

from accounts.models import Project
from ledger.models import Entry, Halt, Run
from ledger.verification.replay import replay_run
from ledger.verification.row_checks import compare_runs
from ledger.verification.verify import verify_run
from reviews.halts.deadlines import TYPE, move_deadlines
from reviews.models import Grant, Review
from reviews.rulings import expiry
from tests.reviews.halts.halting import halt, release
from tests.support.builders import pause_at_once, start_run, step
from tests.support.people import rule
from tests.support.problems import problem

HOUR = timedelta(hours=1)


def age_halt(made: dict[str, Any], by: timedelta) -> None:
    """As if it stood for that much longer."""
    rows = Halt.objects.filter(code=made["id"])
    rows.update(at=rows.get().at - by)


def is_moved(run: str) -> bool:
    return Entry.objects.filter(run__code=run, type=TYPE).exists()


def check_ledger(run: str) -> None:
    row = Run.objects.get(code=run)
    assert verify_run(row).ok
    assert replay_run(row).difference is None


def test_nothing_expires_while_it_is_halted(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    review = pause_at_once(agent, run)
    halt(reviewer)
    past = {"due_at": timezone.now() - HOUR, "answer_by": timezone.now() - 2 * HOUR}
    Review.objects.filter(code=review).update(**past)
    expiry.expire_due_reviews()
    expiry.note_late_reviews()
    found = Review.objects.get(code=review)
    assert (found.state, found.late_at) == ("open", None)
    request = expiry.ExpireReview(run_code=run, review_code=review)
    assert expiry._attempt(request) is False
    rule(reviewer, review, "approve")


def test_an_expired_moment_is_given_back_whoever_asks_first(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    """The grant would have ended while it was halted; after the release it may be used."""
    run = start_run(agent)
    call = agent.post(
        f"/runs/{run}/tool-calls", json={"kind": "command", "command": "ls"}
    ).json()
    made = halt(manager)
    path = f"/runs/{run}/tool-calls/{call['id']}/claim"
    body = {"digest": call["digest"]}
    problem(agent.post(path, json=body), "halted")
    grants = Grant.objects.filter(call_id=call["id"])
    issued, ended = timezone.now() - 2 * HOUR, timezone.now() - HOUR
    grants.update(issued_at=issued, expires_at=ended)
    age_halt(made, 2 * HOUR)
    problem(agent.post(path, json=body), "halted")
    release(manager, made)
    assert agent.post(path, json=body).status_code == 200
    assert is_moved(run)
    check_ledger(run)


def test_the_task_moves_each_run_once_and_settles_the_halt(
    project: Project, agent: httpx.Client, manager: httpx.Client
) -> None:
    run, other = start_run(agent), start_run(agent)
    review = pause_at_once(agent, run)
    due_at = Review.objects.get(code=review).due_at
    over = start_run(agent)
    agent.post(f"/runs/{over}/finish", json={"outcome": "completed"})
    made = halt(manager)
    release(manager, made)
    late = start_run(agent)
    row = Halt.objects.get(code=made["id"])
    for _ in range(2):
        move_deadlines()
        assert Halt.objects.get(pk=row.pk).deadlines_moved_at is not None
        for each in (run, other):
            assert Entry.objects.filter(run__code=each, type=TYPE).count() == 1
        assert not is_moved(over)
        assert not is_moved(late)
    held = Halt.objects.get(pk=row.pk)
    assert held.released_at is not None
    moved = Review.objects.get(code=review).due_at - due_at
    assert timedelta(0) < moved <= held.released_at - held.at
    for each in (run, other):
        check_ledger(each)
    assert compare_runs(list(Run.objects.filter(project=project))) == []
    assert agent.post(f"/runs/{other}/steps", json=step(1)).status_code == 201


def test_the_running_clock_and_silence_stand_still(
    project: Project, agent: httpx.Client, manager: httpx.Client
) -> None:
    run = start_run(agent, budget={"time_ms": 60_000})
    made = halt(manager)
    began = Run.objects.get(code=run).running_since
    assert began is not None
    moment = timezone.now()
    rows = Run.objects.filter(code=run)
    rows.update(
        running_since=began - HOUR,
        time_over_at=moment - HOUR,
        created_at=moment - 9 * HOUR,
        updated_at=moment - 9 * HOUR,
    )
    age_halt(made, HOUR + timedelta(minutes=1))
    expiry.stop_overdue_runs()
    expiry.abandon_silent_runs()
    assert rows.get().status == "running"
    release(manager, made)
    # Nobody has moved anything yet: whoever judges does it first.
    assert expiry._attempt(expiry.AbandonRun(run_code=run)) is False
    assert expiry._attempt(expiry.StopOverdueRun(run_code=run)) is False
    stored = rows.get()
    assert (stored.status, is_moved(run)) == ("running", False)


@pytest.mark.parametrize("first", [True, False])
def test_a_run_that_two_halts_held_gets_each_moment_once(
    agent: httpx.Client, manager: httpx.Client, first: bool
) -> None:
    run = start_run(agent)
    review = pause_at_once(agent, run)
    opened = timezone.now() - 9 * HOUR
    Review.objects.filter(code=review).update(opened_at=opened)
    due_at = Review.objects.get(code=review).due_at
    whole, own = halt(manager), halt(manager, {"run": run})
    age_halt(whole, 2 * HOUR)
    age_halt(own, HOUR)
    for made in (whole, own) if first else (own, whole):
        release(manager, made)
    move_deadlines()
    moved = Review.objects.get(code=review).due_at - due_at
    assert 2 * HOUR <= moved < 2 * HOUR + timedelta(minutes=10)
