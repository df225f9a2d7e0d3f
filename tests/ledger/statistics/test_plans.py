"""What pages read of the figures is found by indexes, however much there is beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

import httpx
import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Agent, Project
from ledger.models import PeriodTotals, Run
from ledger.statistics.counting import count_project
from ledger.statistics.periods import Scope
from ledger.statistics.selectors import (
    read_count_series,
    read_counts,
    read_series,
    read_spend,
    read_totals,
)
from ledger.statistics.slices import COLUMNS, Figures, Key
from ledger.statistics.store import add_figures
from reviews.models import Review
from reviews.statistics.attention import read_attention
from reviews.statistics.selectors import (
    read_review_counts,
    read_rule_counts,
    read_time_to_ruling,
    read_time_to_ruling_by_kind,
)
from tests.support.builders import pause_at_once, start_run
from tests.support.people import rule

BIG = (
    *("ledger_periodtotals", "ledger_periodcount", "ledger_run"),
    *("ledger_entry", "reviews_review"),
)
# As PostgreSQL and SQLite say it.
WHOLE = re.compile(rf"(?:Seq Scan on|SCAN) (?:{'|'.join(BIG)})\b")
HOURS, COPIES = 24 * 90, 3_000


@pytest.fixture
def filled(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> Iterator[Project]:
    """Three months of figures, runs and reviews; all of it is taken back."""
    run = start_run(agent)
    review = pause_at_once(agent, run)
    rule(reviewer, review, "approve")
    count_project(project_id=project.pk)
    with transaction.atomic():
        add_figures(project_id=project.pk, figures=_make_figures(project))
        _copy(Run._meta.db_table, "code = %s", run, "created_at")
        _copy(Review._meta.db_table, "code = %s", review, "opened_at", "closed_at")
        assert Run.objects.filter(project=project).count() == COPIES + 1
        assert Review.objects.filter(project=project).count() == COPIES + 1
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                for table in BIG:
                    cursor.execute(f"ANALYZE {table}")
        yield project
        transaction.set_rollback(True)


def _make_figures(project: Project) -> Figures:
    figures = Figures()
    agent = Agent.objects.get(project=project, name="robo")
    now = timezone.now().replace(minute=0, second=0, microsecond=0)
    for hour in range(HOURS):
        at = now - timedelta(hours=hour)
        for name, value in (("", ""), ("repo", "shop"), ("team", "red")):
            key = _build_key(agent, "hour", at, name, value)
            figures.totals[key] = [1] * len(COLUMNS)
            for gate in ("rework", "budget"):
                figures.counts[key, "finding", gate] = 1
                figures.counts[key, "rule_asked", gate] = 1
            if hour % 24 == 0:
                day = _build_key(agent, "day", at.replace(hour=0), name, value)
                figures.totals[day] = [1] * len(COLUMNS)
                figures.counts[day, "finding", "rework"] = 1
    return figures


def _build_key(agent: Agent, interval: str, at: datetime, name: str, value: str) -> Key:
    return Key(
        interval=interval,
        at=at,
        agent_id=agent.pk,
        model="",
        intent="docs",
        policy="default@7",
        label_name=name,
        label_value=value,
    )


def _copy(table: str, where: str, code: str, *moments: str) -> None:
    """The row again and again, each an hour earlier than the one before."""
    with connection.cursor() as cursor:
        found = connection.introspection.get_table_description(cursor, table)
        names = [column.name for column in found if column.name != "id"]
        fresh = "gen_random_uuid()", "{} - number * interval '1 hour'"
        if connection.vendor == "sqlite":
            fresh = (
                "lower(hex(randomblob(16)))",
                "strftime('%%Y-%%m-%%d %%H:%%M:%%f', {}, '-' || number || ' hours')",
            )
            code = code.replace("-", "")
        values = {"code": fresh[0]} | {each: fresh[1].format(each) for each in moments}
        cursor.execute(
            "WITH RECURSIVE numbers(number) AS (SELECT 1 UNION ALL SELECT number + 1 "
            f"FROM numbers WHERE number < {COPIES}) "
            f"INSERT INTO {table} ({', '.join(names)}) "
            f"SELECT {', '.join(values.get(name, name) for name in names)} "
            f"FROM {table}, numbers WHERE {where}",
            [code],
        )


def explain(sql: str) -> str:
    with connection.cursor() as cursor:
        prefix = "EXPLAIN QUERY PLAN " if connection.vendor == "sqlite" else "EXPLAIN "
        cursor.execute(prefix + sql.replace("%", "%%"))
        return "\n".join(str(row[-1]) for row in cursor.fetchall())


def test_no_big_table_is_read_as_a_whole(filled: Project) -> None:
    until = timezone.now()
    week = Scope(project_id=filled.pk, since=until - timedelta(days=7), until=until)
    labelled = Scope(
        project_id=filled.pk,
        since=until - timedelta(days=7),
        until=until,
        label=("team", "red"),
        agent="robo",
    )
    with CaptureQueriesContext(connection) as queries:
        for scope in (week, labelled):
            read_totals(scope=scope)
            read_series(scope=scope, interval="day")
            read_series(scope=scope, interval="hour")
            read_counts(scope=scope, kind="finding")
            read_count_series(scope=scope, kind="finding", interval="day")
            read_spend(scope=scope, by="agent")
        read_spend(scope=week, by="label:repo")
        read_spend(scope=week, by="run", limit=10)
        read_review_counts(scope=week)
        read_rule_counts(scope=week)
        read_attention(scope=week)
        read_time_to_ruling(scope=week)
        read_time_to_ruling_by_kind(scope=week)

    assert len(queries) > 20
    for query in queries.captured_queries:
        plan = explain(query["sql"])
        assert not WHOLE.search(plan), (query["sql"], plan)


def test_what_is_read_as_a_whole_would_be_seen(filled: Project) -> None:
    with CaptureQueriesContext(connection) as queries:
        PeriodTotals.objects.filter(policy="none@1").exists()
    assert WHOLE.search(explain(queries.captured_queries[0]["sql"]))
