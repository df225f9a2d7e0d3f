"""A claim ends by itself when its claimer is gone, and holds while they look at it."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import httpx
import pytest
from django.utils import timezone

from accounts.models import Project
from console.live.updates import View, build_updates
from ledger.verification.verify import verify_run_and_rows
from reviews.models import Review
from reviews.teamwork.claims import renew_claims
from reviews.teamwork.sweep import end_claims
from tests.support.browsing import fragment, open_browser, send
from tests.support.builders import Person, make_policy, pause_at_once, start_run
from tests.support.people import claim


@pytest.fixture
def review(agent: httpx.Client) -> str:
    return pause_at_once(agent, start_run(agent))


def get_row(review: str) -> Review:
    return Review.objects.select_related("assignee", "run").get(code=review)


def pass_time(review: str) -> None:
    past = timezone.now() - timedelta(seconds=1)
    Review.objects.filter(code=review).update(claimed_until=past)


def test_the_policy_says_for_how_long(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    make_policy("default", project=project, reviews={"claim_lease_s": 60})
    review = pause_at_once(agent, start_run(agent))
    answer = reviewer.post(f"/reviews/{review}/claim").json()
    row = get_row(review)
    assert row.claimed_at is not None
    assert row.claimed_until == row.claimed_at + timedelta(seconds=60)
    assert answer["claimed_until"] is not None


def test_it_ends_once_and_everybody_sees_it(
    alice: Person, reviewer: httpx.Client, project: Project, review: str
) -> None:
    claim(review, alice)
    end_claims()
    assert get_row(review).assignee == alice.user
    pass_time(review)
    assert end_claims() >= 1
    assert end_claims() == 0
    row = get_row(review)
    assert (row.assignee, row.claimed_at, row.claimed_until) == (None, None, None)
    last = reviewer.get(f"/reviews/{review}").json()["history"][-1]
    assert (last["type"], last["actor"]) == ("review.released", "system:clock")
    view = View(project_id=project.pk, name="queue")
    ((_, update),) = build_updates([(view, 0)]).items()
    assert f'id="review-{review}"' in update.text
    assert verify_run_and_rows(row.run).ok


def test_whoever_comes_after_its_end_is_not_warned(
    alice: Person, bob: Person, project: Project, review: str
) -> None:
    claim(review, alice)
    path = f"/p/{project.slug}/queue/{review}/"
    client = open_browser(bob.user)
    assert send(client, f"{path}claim/", take_over="").status_code == 428
    pass_time(review)
    assert send(client, f"{path}claim/", take_over="").status_code == 200
    assert get_row(review).assignee == bob.user
    assert "taken over" not in fragment(client, path).content.decode()


def test_it_is_renewed_only_for_its_claimer_and_before_its_end(
    alice: Person, bob: Person, review: str
) -> None:
    claim(review, alice)
    soon = timezone.now() + timedelta(seconds=60)
    Review.objects.filter(code=review).update(claimed_until=soon)
    renew_claims([(bob.user.pk, UUID(review))])
    assert get_row(review).claimed_until == soon
    renew_claims([(alice.user.pk, UUID(review))])
    renewed = get_row(review).claimed_until
    assert renewed is not None
    assert renewed > soon + timedelta(minutes=10)
    pass_time(review)
    renew_claims([(alice.user.pk, UUID(review))])
    assert end_claims() >= 1
    assert get_row(review).assignee is None
