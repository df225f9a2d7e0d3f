"""What was refused for lateness stays refused, also when the clock is set back."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial

import httpx
import pytest
from django.utils import timezone

from ledger.models import Entry, Run
from ledger.verification.replay import replay_run
from ledger.verification.verify import verify_run
from reviews.models import Grant, GrantState, Review
from reviews.rulings.expiry import expire_due_reviews
from tests.gateway.calls.calls import claim, command, settle
from tests.reviews.rulings.test_expiry import move_due_date
from tests.support.builders import pause_at_once, start_run
from tests.support.people import get_seen
from tests.support.problems import problem
from tests.support.threads import at_once
from tests.support.waiting import park

LATE, IN_TIME = timedelta(seconds=-1), timedelta(hours=1)


def list_types(run: str) -> list[str]:
    entries = Entry.objects.filter(run__code=run).order_by("seq")
    return list(entries.values_list("type", flat=True))


def test_a_late_ruling_ends_the_review_for_ever(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    review = pause_at_once(agent, run)
    body = {"action": "approve", **get_seen(reviewer, review)}
    parked = park(agent, run)
    move_due_date(review, LATE)
    ruling = partial(reviewer.post, f"/reviews/{review}/ruling", json=body)

    problem(ruling(), "review-expired")
    assert parked.result(timeout=60).json()["state"] == "expired"
    Review.objects.filter(code=review).update(due_at=timezone.now() + IN_TIME)
    problem(ruling(), "review-expired")

    assert list_types(run)[-2:] == ["review.expired", "run.aborted"]
    assert Review.objects.get(code=review).state == "expired"
    assert agent.get(f"/runs/{run}").json()["status"] == "aborted"
    entries = list_types(run)
    expire_due_reviews()
    assert list_types(run) == entries


def test_a_late_withdrawal_ends_the_review_for_ever(agent: httpx.Client) -> None:
    run = start_run(agent)
    asked = {"kind": "question", "title": "May I?"}
    review = agent.post(f"/runs/{run}/reviews", json=asked).json()["id"]
    move_due_date(review, LATE)
    headers = {"Idempotency-Key": "once"}
    withdraw = partial(agent.post, f"/reviews/{review}/withdraw")

    problem(withdraw(headers=headers), "review-expired")

    assert Review.objects.get(code=review).state == "expired"
    problem(withdraw(headers=headers), "already-ruled")
    assert list_types(run).count("review.expired") == 1


def test_many_late_rulings_and_the_sweep_end_a_review_once(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    review = pause_at_once(agent, run)
    body = {"action": "approve", **get_seen(reviewer, review)}
    move_due_date(review, LATE)

    def ruling() -> str:
        answer = reviewer.post(f"/reviews/{review}/ruling", json=body)
        problem(answer, "review-expired")
        return "refused"

    def sweep() -> str:
        expire_due_reviews()
        return "swept"

    answers = at_once(*[ruling] * 6, *[sweep] * 2)

    assert sorted(answers) == ["refused"] * 6 + ["swept"] * 2
    assert list_types(run).count("review.expired") == 1
    assert verify_run(Run.objects.get(code=run)).ok


def move_grant_end(call: str, to: timedelta) -> datetime:
    end = timezone.now() + to
    Grant.objects.filter(call__code=call).update(expires_at=end)
    return end


@pytest.mark.parametrize("door", ["claim", "result"])
def test_a_late_claim_ends_the_grant_for_ever(agent: httpx.Client, door: str) -> None:
    run = start_run(agent)
    call = command(agent, run, "ls")
    use = partial(claim if door == "claim" else settle, agent, run, call)
    move_grant_end(call["id"], LATE)

    problem(use(), "grant-expired")
    move_grant_end(call["id"], IN_TIME)

    for late in (use(), claim(agent, run, call), settle(agent, run, call)):
        problem(late, "grant-expired")
    assert list_types(run)[-1] == "call.expired"
    assert list_types(run).count("call.expired") == 1
    grant = Grant.objects.get(call__code=call["id"])
    assert grant.state == GrantState.EXPIRED
    assert grant.ended_at is not None
    told = agent.get(f"/runs/{run}/tool-calls/{call['id']}").json()
    assert told["state"] == "expired"
    assert replay_run(Run.objects.get(code=run)).difference is None


def test_a_grant_that_ended_late_is_not_revoked_at_the_end_of_its_run(
    agent: httpx.Client,
) -> None:
    run = start_run(agent)
    call = command(agent, run, "ls")
    move_grant_end(call["id"], LATE)
    problem(claim(agent, run, call), "grant-expired")

    agent.post(f"/runs/{run}/finish", json={"outcome": "completed"})

    assert Grant.objects.get(call__code=call["id"]).state == GrantState.EXPIRED
    problem(claim(agent, run, call), "run-closed")


def test_many_late_claims_end_a_grant_once(agent: httpx.Client) -> None:
    run = start_run(agent)
    call = command(agent, run, "ls")
    move_grant_end(call["id"], LATE)

    def late() -> int:
        return claim(agent, run, call).status_code

    assert at_once(*[late] * 8) == [410] * 8
    assert list_types(run).count("call.expired") == 1
    assert Run.objects.get(code=run).head_seq == len(list_types(run))


def test_a_late_claim_stands_in_the_ledger(agent: httpx.Client) -> None:
    run = start_run(agent)
    call = command(agent, run, "ls")
    move_grant_end(call["id"], LATE)
    problem(claim(agent, run, call), "grant-expired")

    entries = agent.get(f"/runs/{run}/ledger").text
    assert '"type":"call.expired","actor":"system:clock"' in entries
