"""A review that is not answered in its time: told once, and still open."""

from __future__ import annotations

import json
from datetime import timedelta

import httpx
import pytest
from django.utils import timezone

from accounts.models import Project
from ledger.models import Entry
from ledger.writer import get_writer
from reviews.errors import ReviewNotOpen
from reviews.models import Review
from reviews.rulings.expiry import NoteLateReview, note_late_reviews
from reviews.tasks import expire_reviews
from tests.support.builders import make_policy, pause_at_once, start_run
from tests.support.people import rule


@pytest.fixture
def run(agent: httpx.Client, project: Project) -> str:
    return start_run(agent)


def list_late(review: str) -> list[dict[str, str]]:
    entries = Entry.objects.filter(type="review.late", payload__contains=review)
    return [json.loads(entry.payload) for entry in entries]


def pass_time(review: str) -> None:
    past = timezone.now() - timedelta(seconds=1)
    Review.objects.filter(code=review).update(answer_by=past)


def test_it_is_told_once_and_can_be_ruled_on(
    agent: httpx.Client, reviewer: httpx.Client, run: str
) -> None:
    review = pause_at_once(agent, run)
    note_late_reviews()
    assert list_late(review) == []
    pass_time(review)
    for _ in range(2):
        expire_reviews()
    (told,) = list_late(review)
    assert told["severity"] == "medium"
    row = Review.objects.get(code=review)
    assert (row.state, row.version) == ("open", 1)
    assert row.late_at is not None
    history = reviewer.get(f"/reviews/{review}").json()["history"]
    assert [item["type"] for item in history] == ["review.opened", "review.late"]
    rule(reviewer, review, "approve")
    assert agent.get(f"/runs/{run}").json()["status"] == "running"


def test_two_sweeps_at_once_tell_it_once(agent: httpx.Client, run: str) -> None:
    review = pause_at_once(agent, run)

    def note() -> bool:
        request = NoteLateReview(run_code=run, review_code=review)
        return get_writer().perform_now(request)

    with pytest.raises(ReviewNotOpen):
        note()
    pass_time(review)
    assert note()
    with pytest.raises(ReviewNotOpen):
        note()
    assert len(list_late(review)) == 1


def test_the_policy_says_when(agent: httpx.Client, project: Project) -> None:
    deadlines = {"severity": {"medium": {"answer_within_s": 60}}}
    make_policy("default", project=project, reviews={"deadlines": deadlines})
    row = Review.objects.get(code=pause_at_once(agent, start_run(agent)))
    assert row.answer_by - row.opened_at == timedelta(seconds=60)
    assert row.due_at - row.opened_at == timedelta(days=1)


def test_what_is_over_at_once_is_never_late(
    agent: httpx.Client, project: Project
) -> None:
    make_policy("default", project=project, reviews={"expires_after_s": 1})
    row = Review.objects.get(code=pause_at_once(agent, start_run(agent)))
    assert row.answer_by == row.due_at
