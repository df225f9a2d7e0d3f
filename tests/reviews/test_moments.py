"""To the microsecond: what ends at a moment has ended at it, and not a moment before."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from accounts.models import Project
from common.errors import Unavailable
from guidance.core.runs.usage import Budget
from ledger.models import Run
from ledger.writer import get_writer
from reviews.errors import ReviewNotOpen, RunClosed
from reviews.models import Permission, Review
from reviews.permissions.standing import filter_standing, get_permission_state
from reviews.queue.agent_waits import SEEN_WITHIN, get_waiting
from reviews.rulings import expiry
from reviews.rulings.budgets import merge_budget
from reviews.rulings.expiry import AbandonRun, ExpireReview, expire_due_reviews
from reviews.schemas.reviews import BudgetIn
from tests.gateway.calls.calls import command, rule
from tests.reviews.rulings.test_expiry import overdue
from tests.support.builders import make_policy, pause_at_once, start_run
from tests.support.run_states import AT, build_open_review, build_run

TICK = timedelta(microseconds=1)
REVIEW = "019a1b2c-3d4e-7f60-8abc-def012345679"


def test_a_review_is_due_at_its_moment() -> None:
    review = build_open_review(REVIEW, due_at=AT, on_expiry="stop")
    run = build_run(status="paused", open_reviews=(review,))
    request = ExpireReview(run_code=run.code, review_code=REVIEW)
    with pytest.raises(ReviewNotOpen):
        request.decide(run, AT - TICK)

    plan = request.decide(run, AT).plan
    assert [each.type for each in plan.drafts] == ["review.expired", "run.stopped"]
    assert plan.wakes_waiters

    gone = ExpireReview(run_code=run.code, review_code="b")
    with pytest.raises(ReviewNotOpen):
        gone.decide(run, AT)


@pytest.mark.parametrize(
    ("outcome", "ends"),
    [("deny", []), ("stop", ["run.stopped"]), ("abort", ["run.aborted"])],
)
def test_what_a_late_review_does_to_its_run(outcome: str, ends: list[str]) -> None:
    review = build_open_review(REVIEW, due_at=AT, on_expiry=outcome)
    run = build_run(status="paused", open_reviews=(review,))
    plan = ExpireReview(run_code=run.code, review_code=REVIEW).decide(run, AT).plan
    assert [each.type for each in plan.drafts] == ["review.expired", *ends]
    assert plan.drafts[0].payload == {"review": REVIEW, "outcome": outcome}
    assert {each.actor for each in plan.drafts} == {"system:clock"}


def test_a_run_is_silent_after_its_patience_to_the_moment(
    agent: httpx.Client, project: Project
) -> None:
    policy = make_policy("p", project=project, runs={"abandon_after_s": 90})
    run = build_run(policy_id=policy.pk)
    request = AbandonRun(run_code=run.code)
    late = AT + timedelta(seconds=90)
    with pytest.raises(RunClosed):
        request.decide(run, late - TICK)
    for status in ("paused", "stopped", "completed"):
        with pytest.raises(RunClosed):
            request.decide(build_run(policy_id=policy.pk, status=status), late)

    plan = request.decide(run, late).plan
    assert [each.type for each in plan.drafts] == ["run.abandoned"]


@pytest.mark.parametrize(
    ("row", "state"),
    [
        ({}, "standing"),
        ({"expires_at": AT}, "expired"),
        ({"expires_at": AT - TICK}, "expired"),
        ({"uses_left": 0}, "used up"),
        ({"uses_left": 2}, "standing"),
        ({"revoked_at": AT}, "revoked"),
        ({"revoked_at": AT, "uses_left": 0, "expires_at": AT}, "revoked"),
        ({"uses_left": 0, "expires_at": AT}, "used up"),
    ],
)
def test_a_permission_stands_until_it_ends(
    agent: httpx.Client, reviewer: httpx.Client, row: dict[str, Any], state: str
) -> None:
    """What is looked for in the database and what is judged are the same."""
    call = command(agent, start_run(agent))
    rule(reviewer, call, "approve", remember={"scope": "exact"})
    mine = Permission.objects.filter(review__code=call["review"]["id"])
    given = {"uses_left": 1, "expires_at": AT + TICK, "revoked_at": None}
    mine.update(**given | row)

    assert get_permission_state(mine.get(), at=AT) == state
    assert mine.filter(filter_standing(at=AT)).exists() is (state == "standing")


@pytest.mark.parametrize(
    ("seen", "opened", "now"),
    [
        (timedelta(0), SEEN_WITHIN, True),
        (SEEN_WITHIN - TICK, SEEN_WITHIN, True),
        (SEEN_WITHIN, SEEN_WITHIN, False),
        (None, SEEN_WITHIN, False),
        (None, SEEN_WITHIN - TICK, None),
    ],
)
def test_an_agent_that_was_seen_a_moment_ago_waits(
    seen: timedelta | None, opened: timedelta, now: bool | None
) -> None:
    def ask(**more: Any) -> bool | None:
        wait = None if seen is None else SimpleNamespace(seen_at=AT - seen)
        given = {"state": "open", "kind": "pause", "opened_at": AT - opened}
        review: Any = SimpleNamespace(**given | more, agent_wait=wait)
        waiting = get_waiting(review, AT)
        return None if waiting is None else waiting.now

    assert ask() is now
    assert ask(state="ruled") is None
    assert ask(kind="loop_action") is None


def test_one_review_that_cannot_be_ended_keeps_no_other_from_its_end(
    agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next sweep finds it again."""
    reviews = [pause_at_once(agent, start_run(agent)) for _ in range(3)]
    for review in reviews:
        overdue(review)
    writer = get_writer()
    failed: list[Any] = []

    def perform(request: Any) -> Any:
        if getattr(request, "review_code", "") == reviews[0] and not failed:
            failed.append(request)
            raise Unavailable("The project is busy.")
        return writer.perform_now(request)

    fake = SimpleNamespace(perform_now=perform)
    monkeypatch.setattr(expiry, "get_writer", lambda: fake)

    def states() -> list[str]:
        return [Review.objects.get(code=code).state for code in reviews]

    expire_due_reviews()
    assert states() == ["open", "expired", "expired"]
    expire_due_reviews()
    assert states() == ["expired"] * 3


def test_a_sweep_is_bounded_and_goes_on_the_next_time(
    agent: httpx.Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine_alone = SimpleNamespace(objects=Review.objects.filter(project=project))
    monkeypatch.setattr(expiry, "Review", mine_alone)
    for _ in range(3):
        overdue(pause_at_once(agent, start_run(agent)))
    monkeypatch.setattr(expiry, "SWEEP_LIMIT", 2)

    assert [expire_due_reviews() for _ in range(3)] == [2, 1, 0]


def test_a_new_budget_changes_what_was_given_and_lifts_what_is_null() -> None:
    base = Budget(tokens=1, tool_calls=2, time_ms=3, cost_micros=4)
    cases: dict[str, tuple[dict[str, Any], Budget]] = {
        "nothing": ({}, base),
        "one": (
            {"tokens": 9},
            Budget(tokens=9, tool_calls=2, time_ms=3, cost_micros=4),
        ),
        "lifted": (
            {"tool_calls": None, "time_ms": None},
            Budget(tokens=1, tool_calls=None, time_ms=None, cost_micros=4),
        ),
        "money": (
            {"cost_usd": "1.5"},
            Budget(tokens=1, tool_calls=2, time_ms=3, cost_micros=1_500_000),
        ),
        "no money": (
            {"cost_usd": None},
            Budget(tokens=1, tool_calls=2, time_ms=3, cost_micros=None),
        ),
    }
    for name, (given, expected) in cases.items():
        assert merge_budget(base, BudgetIn(**given)) == expected, name


def test_an_observed_run_is_left_to_whoever_runs_it(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    code = start_run(agent)
    row = Run.objects.filter(code=code)
    row.update(memory=row.get().memory[:-1] + ',"observed":true}')
    get_writer()._committer.states.drop(code)

    refused = reviewer.post(f"/runs/{code}/abort", json={})

    assert refused.status_code == 403, refused.text
    assert agent.get(f"/runs/{code}").json()["status"] == "running"
