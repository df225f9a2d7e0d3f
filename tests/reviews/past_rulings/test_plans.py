"""Lists and figures of rulings are answered by indexes, and not by reading all of them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial

import httpx
import pytest
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import Project
from reviews.models import Review, Ruling
from reviews.past_rulings.filters import (
    SORTS,
    RulingSearch,
    filter_rulings,
    list_ruling_page,
)
from reviews.past_rulings.reviewers import ReviewerPeriod, count_reviewers
from reviews.past_rulings.times import read_times_by, read_times_of_spans
from tests.gateway.calls.calls import command
from tests.ledger.run_list.test_plans import explain
from tests.support.builders import Person, start_run
from tests.support.people import rule

RULINGS = 10_000
_MAKE = """
WITH review AS (
  INSERT INTO reviews_review ({review})
  SELECT {new_review} FROM reviews_review, generate_series(1, %(count)s)
  WHERE project_id = %(project)s RETURNING id
), ruling AS (
  INSERT INTO reviews_ruling ({ruling})
  SELECT {new_ruling} FROM reviews_ruling, review
  WHERE review_id IN (SELECT id FROM reviews_review WHERE project_id = %(project)s)
  RETURNING code
), numbered AS (SELECT code, row_number() OVER () AS n FROM ruling)
INSERT INTO reviews_rulingfact (ruling_id, project_id, run_id, agent_id, by_id, at, action,
  kind, severity, rule, rules, alike_key, text, took_ms, read_ms, regretted)
SELECT code, project_id, run_id, agent_id, by_id, at - n * interval '1 hour',
  CASE WHEN n %% 20 = 0 THEN 'deny' ELSE 'approve' END, kind,
  CASE WHEN n %% 10 = 0 THEN 'critical' ELSE 'high' END, 'rule-' || n %% 30, rules,
  alike_key, text || repeat(' of many words', 20), n * 7 %% 9973, n * 3 %% 9973, n %% 500 = 0
FROM reviews_rulingfact, numbered WHERE project_id = %(project)s
"""
WHOLE = "Seq Scan on reviews_rulingfact"


@pytest.fixture
def project_with_rulings(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> Iterator[Project]:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite plans the same for any number of rows.")
    rule(reviewer, command(agent, start_run(agent))["review"]["id"], "approve")
    with transaction.atomic():
        with connection.cursor() as cursor:
            given = {"count": RULINGS, "project": project.pk}
            cursor.execute(_write_copies(), given)
            cursor.execute("ANALYZE reviews_rulingfact, reviews_ruling, reviews_review")
        yield project
        transaction.set_rollback(True)


def _write_copies() -> str:
    """Copies of the one review and ruling that there are, each with a fact of its own."""
    fresh = {"code": "gen_random_uuid()", "review_id": "review.id"}
    parts: dict[str, str] = {}
    for name, model in (("review", Review), ("ruling", Ruling)):
        table = model._meta.db_table
        names = [each.attname for each in model._meta.fields if each.attname != "id"]
        values = [fresh.get(each, f"{table}.{each}") for each in names]
        parts |= {name: ", ".join(names), f"new_{name}": ", ".join(values)}
    return _MAKE.format(**parts)


def test_no_list_and_no_figure_reads_all_rulings(
    project_with_rulings: Project, bob: Person, subtests: pytest.Subtests
) -> None:
    project_id, at = project_with_rulings.pk, timezone.now()
    month = at - timedelta(days=30)
    searches = {
        "month": RulingSearch(project_id=project_id, since=month),
        "person": RulingSearch(
            project_id=project_id, by=(bob.user.username,), since=month
        ),
        "action": RulingSearch(project_id=project_id, actions=("deny",)),
        "agent": RulingSearch(project_id=project_id, agents=("robo",), since=month),
        "severity": RulingSearch(project_id=project_id, severities=("critical",)),
        "kind": RulingSearch(project_id=project_id, kinds=("pause",)),
        "regretted": RulingSearch(project_id=project_id, regretted=True),
        "fast": RulingSearch(project_id=project_id, faster_than_ms=5, since=month),
    }
    for name, search in searches.items():
        for sort in SORTS:
            with subtests.test(name=name, sort=sort):
                found = partial(
                    list_ruling_page, search, sort=sort, cursor=None, limit=50
                )
                plans = explain(found)
                assert WHOLE not in plans, plans
        with subtests.test(count=name):
            plans = explain(filter_rulings(search).count)
            assert WHOLE not in plans, plans
    period = ReviewerPeriod(project_id=project_id, since=month, until=at)
    with subtests.test("reviewers"):
        plans = explain(partial(count_reviewers, period))
        assert WHOLE not in plans, plans


def test_times_to_a_ruling_are_found_by_indexes(
    project_with_rulings: Project,
) -> None:
    project_id, now = project_with_rulings.pk, timezone.now()
    days = [now - timedelta(days=number) for number in range(30, 0, -1)]
    spans: list[tuple[datetime, datetime]] = [
        (day, day + timedelta(days=1)) for day in days
    ]
    plans = explain(partial(read_times_of_spans, project_id=project_id, spans=spans))
    assert "Index Cond: ((project_id = " in plans, plans
    assert WHOLE not in plans, plans
    for column in ("severity", "by_id"):
        plans = explain(
            partial(read_times_by, column, project_id=project_id, span=(days[0], now))
        )
        assert WHOLE not in plans, plans
