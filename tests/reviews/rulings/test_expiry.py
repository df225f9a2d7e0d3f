"""Nobody rules in time: the configured outcome, which is never an approval."""

from __future__ import annotations

import json
from datetime import timedelta

import httpx
import pytest
from django.utils import timezone

from accounts.models import Project
from ledger.models import Run
from ledger.writer import get_writer
from reviews.errors import ReviewNotOpen
from reviews.models import Review
from reviews.rulings.expiry import ExpireReview, expire_due_reviews
from tests.support.builders import make_policy, pause_at_once, start_run, step
from tests.support.people import get_seen, rule
from tests.support.problems import problem


def overdue(review: str) -> None:
    move_due_date(review, timedelta(seconds=-1))


def move_due_date(review: str, to: timedelta) -> None:
    """The row says so, and so does what the run knows of it."""
    due_at = timezone.now() + to
    row = Review.objects.select_related("run").get(code=review)
    known = json.loads(row.run.open_reviews)
    for item in known:
        item[4] = due_at.isoformat()
    Review.objects.filter(pk=row.pk).update(due_at=due_at)
    Run.objects.filter(pk=row.run_id).update(open_reviews=json.dumps(known))
    # The head did not move with it, as it does whenever the writer changes a run.
    get_writer()._committer.states.drop(str(row.run.code))


@pytest.fixture
def run(agent: httpx.Client, project: Project, request: pytest.FixtureRequest) -> str:
    outcome = getattr(request, "param", "abort")
    make_policy("p", project=project, reviews={"on_expiry": outcome})
    return start_run(agent, policy="p")


@pytest.mark.parametrize(
    ("run", "status"), [("abort", "aborted"), ("stop", "stopped")], indirect=["run"]
)
def test_an_expired_review_ends_the_run_as_the_policy_says(
    agent: httpx.Client, reviewer: httpx.Client, run: str, status: str
) -> None:
    review = pause_at_once(agent, run)
    overdue(review)

    assert expire_due_reviews() >= 1

    told = agent.get(f"/runs/{run}/decision").json()
    assert told["state"] == "expired"
    assert told["run_status"] == status
    assert told["ruling"] is None
    stored = agent.get(f"/runs/{run}").json()
    assert stored["open_reviews"] == []
    assert stored["status_reason"]
    assert (stored["finished_at"] is None) == (status == "stopped")
    shown = reviewer.get(f"/reviews/{review}").json()
    assert shown["state"] == "expired"
    assert shown["rulings"] == []
    assert [item["type"] for item in shown["history"]][-1] == "review.expired"
    assert shown["history"][-1]["actor"] == "system:clock"
    assert (
        problem(agent.post(f"/runs/{run}/steps", json=step(2)), "run-closed")[
            "run_status"
        ]
        == status
    )


def test_nothing_is_ruled_after_its_time_also_before_the_sweep(
    agent: httpx.Client, reviewer: httpx.Client, run: str
) -> None:
    review = pause_at_once(agent, run)
    body = {"action": "approve", **get_seen(reviewer, review)}
    overdue(review)

    problem(reviewer.post(f"/reviews/{review}/ruling", json=body), "review-expired")
    assert agent.get(f"/runs/{run}").json()["status"] == "aborted"

    expire_due_reviews()
    problem(reviewer.post(f"/reviews/{review}/ruling", json=body), "review-expired")
    assert agent.get(f"/runs/{run}").json()["status"] == "aborted"


def test_a_review_that_is_not_due_is_left_alone(agent: httpx.Client, run: str) -> None:
    pause_at_once(agent, run)

    expire_due_reviews()

    assert agent.get(f"/runs/{run}/decision").json()["state"] == "open"


def test_a_review_that_is_not_due_is_not_expired_by_the_command_either(
    agent: httpx.Client, run: str
) -> None:
    """The sweep's query has found it due; the command judges again under the lock."""
    review = pause_at_once(agent, run)
    head = agent.get(f"/runs/{run}").json()["head"]

    with pytest.raises(ReviewNotOpen):
        get_writer().perform_now(ExpireReview(run_code=run, review_code=review))

    assert agent.get(f"/runs/{run}").json()["head"] == head
    move_due_date(review, timedelta())
    assert get_writer().perform_now(ExpireReview(run_code=run, review_code=review))


def test_a_review_that_was_ruled_meanwhile_is_not_expired_by_the_command(
    agent: httpx.Client, reviewer: httpx.Client, run: str
) -> None:
    review = pause_at_once(agent, run)
    rule(reviewer, review, "approve")
    overdue(review)

    with pytest.raises(ReviewNotOpen):
        get_writer().perform_now(ExpireReview(run_code=run, review_code=review))

    assert agent.get(f"/runs/{run}/decision").json()["state"] == "ruled"


def test_a_second_sweep_finds_nothing(agent: httpx.Client, run: str) -> None:
    overdue(pause_at_once(agent, run))
    expire_due_reviews()
    head = agent.get(f"/runs/{run}").json()["head"]

    expire_due_reviews()

    assert agent.get(f"/runs/{run}").json()["head"] == head


def test_a_review_is_due_a_day_after_it_was_opened_unless_the_policy_says_else(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    make_policy("week", project=project, reviews={"expires_after_s": 7 * 86_400})
    for name, days in (("default", 1), ("week", 7)):
        review = pause_at_once(agent, start_run(agent, policy=name))
        row = Review.objects.get(code=review)
        assert row.due_at - row.opened_at == timedelta(days=days)


@pytest.mark.parametrize("run", ["stop"], indirect=True)
def test_a_run_that_expiry_stopped_may_be_reopened(
    agent: httpx.Client, manager: httpx.Client, run: str
) -> None:
    overdue(pause_at_once(agent, run))
    expire_due_reviews()

    manager.post(f"/runs/{run}/reopen", json={"reason": "was asleep"})

    assert agent.post(f"/runs/{run}/steps", json=step(2)).status_code == 201
