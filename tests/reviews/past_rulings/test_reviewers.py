"""Figures per reviewer: who sees whose, and that they add up to the list."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Project
from reviews.models import RulingFact
from reviews.past_rulings.reviewers import ReviewerPeriod, count_reviewers
from tests.gateway.calls.calls import command, rule
from tests.reviews.past_rulings.bulk import add_rulings
from tests.support import people
from tests.support.builders import Person, pause_at_once, start_run
from tests.support.problems import problem


def ask(person: httpx.Client, **query: Any) -> dict[str, Any]:
    answer = person.get("/stats/reviewers", params=query)
    assert answer.status_code == 200, answer.text
    figures: dict[str, Any] = answer.json()
    return figures


@pytest.fixture
def ruled(
    agent: httpx.Client, reviewer: httpx.Client, manager: httpx.Client
) -> httpx.Client:
    """bob denies once; alice approves in 1 s, approves in 10 s, and denies."""
    run = start_run(agent)
    rule(reviewer, command(agent, run, "rm -rf a"), "deny")
    for action in ("approve", "approve", "deny"):
        rule(manager, command(agent, run, "rm -rf b"), action)
    times = [60_000, 1_000, 10_000, 20_000]
    facts = RulingFact.objects.filter(run__code=run).order_by("pk")
    for fact, took_ms in zip(facts, times, strict=True):
        RulingFact.objects.filter(pk=fact.pk).update(took_ms=took_ms)
    return manager


def test_figures_of_each_person_and_of_all(
    ruled: httpx.Client, alice: Person, bob: Person
) -> None:
    figures = ask(ruled)
    first, second = figures["reviewers"]
    assert (first["person"], first["role"]) == (alice.user.username, "manager")
    assert first["actions"] == {"approve": 2, "deny": 1}
    assert (first["median_ms"], first["p90_ms"]) == (10_000, 20_000)
    assert (first["approvals"], first["fast_approvals"]) == (2, 1)
    assert second["person"] == bob.user.username
    assert (second["rulings"], second["median_ms"]) == (1, 60_000)
    total = figures["total"]
    assert (total["rulings"], total["median_ms"], total["p90_ms"]) == (
        4,
        10_000,
        60_000,
    )
    # Too few for a share to be fair.
    assert total["fast_share"] is None


def test_the_figures_add_up_to_the_list(ruled: httpx.Client, alice: Person) -> None:
    first = ask(ruled)["reviewers"][0]
    query: dict[str, Any] = {"by": alice.user.username, "limit": 1}
    every = ruled.get("/rulings", params=query).json()
    assert every["total"] == first["rulings"]
    fast = {**query, "faster_than_ms": 3_000}
    fast["action"] = ["approve", "amend", "skip"]
    found = ruled.get("/rulings", params=fast).json()
    assert found["total"] == first["fast_approvals"] == 1


def test_a_reviewer_sees_their_own_figures_alone(
    ruled: httpx.Client, reviewer: httpx.Client, bob: Person
) -> None:
    figures = ask(reviewer)
    assert [each["person"] for each in figures["reviewers"]] == [bob.user.username]
    assert figures["total"] is None


def test_who_has_ruled_nothing_sees_zeros(reviewer: httpx.Client) -> None:
    (own,) = ask(reviewer)["reviewers"]
    assert (own["rulings"], own["median_ms"], own["fast_share"]) == (0, None, None)


def test_only_the_period_is_counted(ruled: httpx.Client, project: Project) -> None:
    RulingFact.objects.filter(project=project).update(
        at=timezone.now() - timedelta(days=40)
    )
    assert ask(ruled)["reviewers"] == []
    since = (timezone.now() - timedelta(days=60)).isoformat()
    assert ask(ruled, since=since)["total"]["rulings"] == 4
    answer = ruled.get("/stats/reviewers", params={"since": since, "until": since})
    problem(answer, "invalid")


def test_from_fifty_rulings_on_shares_are_told(
    manager: httpx.Client, agent: httpx.Client, alice: Person, project: Project
) -> None:
    rule(manager, command(agent, start_run(agent), "rm -rf a"), "approve")
    add_rulings(project, 49, by=alice.user, took_ms=1_000)
    (own,) = ask(manager)["reviewers"]
    assert own["fast_share"] == round(own["fast_approvals"] / 50, 4)
    assert own["fast_approvals"] >= 49


def test_what_waits_and_who_is_on_it(
    manager: httpx.Client, agent: httpx.Client, bob: Person
) -> None:
    claimed, _ = (pause_at_once(agent, start_run(agent)) for _ in range(2))
    people.claim(claimed, bob)
    figures = ask(manager)
    waiting = figures["waiting"]
    assert (waiting["open"], waiting["unclaimed"]) == (2, 1)
    opened = manager.get(f"/reviews/{claimed}").json()["opened_at"]
    assert waiting["oldest_opened_at"] == opened
    (row,) = figures["reviewers"]
    assert (row["person"], row["claimed"], row["rulings"]) == (bob.user.username, 1, 0)


def test_figures_cost_seven_queries_however_many_people(
    ruled: httpx.Client, project: Project
) -> None:
    at = timezone.now()
    period = ReviewerPeriod(
        project_id=project.pk, since=at - timedelta(days=30), until=at
    )
    with CaptureQueriesContext(connection) as queries:
        count_reviewers(period)
    assert len(queries) == 7
