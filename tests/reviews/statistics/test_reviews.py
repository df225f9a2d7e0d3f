"""Reviews of a period: opened, ruled, expired, and how long people took."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
from django.db.models import F

from accounts.models import Project
from ledger.statistics.counting import count_project
from reviews.models import Review
from reviews.rulings.expiry import expire_due_reviews
from reviews.statistics.selectors import read_time_to_ruling
from tests.gateway.calls.calls import command
from tests.ledger.statistics.work import scope_of
from tests.reviews.rulings.test_expiry import overdue
from tests.support.builders import pause_at_once, start_run
from tests.support.people import rule


def ask(person: httpx.Client, **query: Any) -> dict[str, Any]:
    answer = person.get("/stats/reviews", params=query)
    assert answer.status_code == 200, answer.text
    figures: dict[str, Any] = answer.json()
    return figures


def test_nothing_is_zeros(manager: httpx.Client) -> None:
    figures = ask(manager)
    assert (figures["opened"], figures["ruled"], figures["expired"]) == (0, {}, 0)
    assert figures["time_to_ruling_ms"] == {"p50": None, "p90": None, "p99": None}
    assert figures["by_kind"] == figures["by_rule"] == {}


def test_by_action_by_kind_and_by_rule(
    agent: httpx.Client, reviewer: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    for action in ("approve", "deny", "deny"):
        call = command(agent, start_run(agent))
        rule(reviewer, call["review"]["id"], action)
    rule(reviewer, pause_at_once(agent, start_run(agent)), "approve")
    overdue(pause_at_once(agent, start_run(agent)))
    expire_due_reviews()
    command(agent, start_run(agent))
    count_project(project_id=project.pk)

    figures = ask(manager)
    assert figures["opened"] == 6
    assert figures["ruled"] == {"approve": 2, "deny": 2}
    assert figures["expired"] == 1
    kinds = figures["by_kind"]
    assert {kind: kinds[kind]["opened"] for kind in kinds} == {
        "confirmation": 4,
        "pause": 2,
    }
    assert kinds["pause"]["expired"] == 1
    assert kinds["confirmation"]["ruled"] == {"approve": 1, "deny": 2}
    (counts,) = figures["by_rule"].values()
    assert counts == {
        "asked": 4,
        "approved": 1,
        "amended": 0,
        "denied": 2,
        "aborted": 0,
        "expired": 0,
    }
    assert figures["time_to_ruling_ms"]["p99"] >= 0


def test_percentiles_are_times_that_were_taken(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    """Ten reviews that took 1 to 10 minutes: half within 5, nine within 9, all in 10."""
    for minutes in range(1, 11):
        review = pause_at_once(agent, start_run(agent))
        rule(reviewer, review, "approve")
        opened_at = F("closed_at") - timedelta(minutes=minutes)
        Review.objects.filter(code=review).update(opened_at=opened_at)

    assert read_time_to_ruling(scope=scope_of(project)) == (
        10,
        timedelta(minutes=5),
        timedelta(minutes=9),
        timedelta(minutes=10),
    )
    assert read_time_to_ruling(scope=scope_of(project, agent="nobody")) is None
