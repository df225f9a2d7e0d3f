"""What people allowed or set aside for a time is not over because a halt stood."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from django.core.management import call_command
from django.utils import timezone

from ledger.allowances import list_allowances
from ledger.chain import format_timestamp
from ledger.models import Entry, Run
from ledger.writer import get_writer
from reviews.halts.deadlines import TYPE, move_deadlines
from reviews.models import Grant, Review
from reviews.teamwork.sweep import return_snoozed
from tests.gateway.calls.calls import command
from tests.gateway.plans.planning import (
    approve,
    bash,
    build_plan,
    build_step,
    list_plans,
    rule_plan,
    submit,
)
from tests.reviews.allowances.test_allowances import allow, report
from tests.reviews.halts.halting import halt, release
from tests.reviews.teamwork.test_snoozing import after, snooze
from tests.support.builders import pause_at_once, start_run
from tests.support.people import rule

HOUR = timedelta(hours=1)
Later = Callable[[timedelta], datetime]


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Later:
    """Moves the writer's clock."""

    def move(by: timedelta) -> datetime:
        moment = datetime.now(UTC) + by
        monkeypatch.setattr(get_writer()._committer, "_read_clock", lambda: moment)
        return moment

    return move


def check_ledger(run: str) -> None:
    call_command("replay", run=run)
    call_command("ledger_verify", run=run)


def test_an_allowance_goes_on_with_the_time_it_had_left(
    agent: httpx.Client, reviewer: httpx.Client, manager: httpx.Client, later: Later
) -> None:
    run = start_run(agent)
    review = allow(agent, reviewer, run, minutes=30)
    made = halt(manager)
    released_at = later(2 * HOUR)
    row = Run.objects.get(code=run)
    assert list_allowances(row, at=released_at), "it stands as long as the halt does"
    release(manager, made)
    # Nobody has moved anything yet: the step has it moved first.
    assert report(agent, run, 2)["decision"] == "continue"
    (stands,) = agent.get(f"/runs/{run}").json()["allowances"]
    ends_at = datetime.fromisoformat(stands["ends_at"])
    assert released_at < ends_at <= released_at + HOUR / 2
    shown = reviewer.get(f"/reviews/{review}").json()["allowance"]
    assert (shown["state"], shown["ends_at"]) == ("standing", stands["ends_at"])
    later(2.6 * HOUR)
    assert report(agent, run, 3)["decision"] == "pause"
    check_ledger(run)


def test_what_was_over_before_the_halt_stays_so(
    agent: httpx.Client, reviewer: httpx.Client, manager: httpx.Client, later: Later
) -> None:
    run = start_run(agent)
    allow(agent, reviewer, run, minutes=30)
    later(0.6 * HOUR)
    made = halt(manager)
    later(2 * HOUR)
    release(manager, made)
    assert report(agent, run, 2)["decision"] == "pause"
    check_ledger(run)


def test_an_approved_plan_goes_on_with_the_time_it_had_left(
    agent: httpx.Client, reviewer: httpx.Client, manager: httpx.Client, later: Later
) -> None:
    run = start_run(agent)
    steps = [build_step(bash("rm -rf build"), bash("rm -rf dist"))]
    half_an_hour = HOUR // 2 // timedelta(milliseconds=1)
    approve(agent, reviewer, run, build_plan(*steps, time_ms=half_an_hour))
    made = halt(manager)
    released_at = later(2 * HOUR)
    release(manager, made)
    assert command(agent, run, "rm -rf build")["decision"] == "allow"
    (plan,) = list_plans(agent, run)
    assert plan["state"] == "standing"
    ends_at = datetime.fromisoformat(plan["ends_at"])
    assert released_at < ends_at <= released_at + HOUR / 2
    later(2.6 * HOUR)
    late = command(agent, run, "rm -rf dist")
    assert late["decision"] == "require-confirmation"
    check_ledger(run)


def test_what_a_person_gave_meanwhile_gets_only_what_was_left_of_the_halt(
    agent: httpx.Client, reviewer: httpx.Client, manager: httpx.Client, later: Later
) -> None:
    """An hour of two, whatever was given before it and is replaced by it."""
    paused, planned, called = (start_run(agent) for _ in range(3))
    allow(agent, reviewer, paused, minutes=30)
    pause = report(agent, paused, 2, uncertainty=0.94)["review"]["id"]
    steps = [build_step(bash("rm -rf build"), bash("rm -rf dist"))]
    approve(agent, reviewer, planned, build_plan(*steps, time_ms=1_800_000))
    plan = submit(agent, planned, build_plan(*steps, time_ms=1_800_000, title="New"))
    call = command(agent, called, "rm -rf build")
    runs = {code: Run.objects.get(code=code) for code in (paused, planned, called)}
    made = halt(manager)
    ruled_at = later(HOUR)
    rule(reviewer, pause, "approve", allowance={"minutes": 30})
    assert rule_plan(reviewer, plan).status_code == 200
    rule(reviewer, call["review"]["id"], "approve")
    grant = Grant.objects.get(call_id=call["id"])
    assert grant.issued_at == ruled_at
    released_at = later(2 * HOUR)
    release(manager, made)
    move_deadlines()

    told = {}
    for code in runs:
        entry = Entry.objects.get(run__code=code, type=TYPE)
        told[code] = json.loads(entry.payload)
        assert told[code]["running_since"] == released_at.isoformat()
        assert told[code]["reviews"] == []
        check_ledger(code)
    ends_at = format_timestamp(released_at + HOUR / 2)
    (allowance,) = told[paused]["allowances"]
    assert allowance["ends_at"] == told[planned]["plan"]["ends_at"] == ends_at
    moved = Grant.objects.get(pk=grant.pk).expires_at
    assert moved - grant.expires_at == released_at - ruled_at


@pytest.mark.parametrize("event", ["run", "comment"])
def test_what_waits_for_an_event_waits_on(
    agent: httpx.Client, manager: httpx.Client, event: str
) -> None:
    """The time at which it would be back is that of its deadline, which stands still."""
    run = start_run(agent)
    review = pause_at_once(agent, run)
    assert snooze(manager, review, event).status_code == 200
    rows = Review.objects.filter(code=review)
    made = halt(manager)
    due = rows.get().snoozed_until
    past = timezone.now() - timedelta(seconds=1)
    rows.update(snoozed_until=past)
    return_snoozed()
    assert rows.get().snoozed_until == past
    rows.update(snoozed_until=due)
    release(manager, made)
    move_deadlines()
    return_snoozed()
    stored = rows.get()
    assert stored.snoozed_until == stored.answer_by
    assert due is not None
    assert stored.answer_by > due
    check_ledger(run)
    entry = Entry.objects.filter(run__code=run, type="review.returned")
    assert not entry.exists()


def test_a_time_of_day_is_kept(agent: httpx.Client, manager: httpx.Client) -> None:
    """A person chose when to look at it again, and may rule meanwhile."""
    run = start_run(agent)
    review = pause_at_once(agent, run)
    snooze(manager, review, after(minutes=5))
    made = halt(manager)
    rows = Review.objects.filter(code=review)
    before = rows.get().snoozed_until
    release(manager, made)
    move_deadlines()
    assert rows.get().snoozed_until == before
    halt(manager)
    rows.update(snoozed_until=timezone.now() - timedelta(seconds=1))
    return_snoozed()
    assert rows.get().snoozed_until is None
