"""Filters and orders of a long list are answered by indexes, and not by reading all runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from accounts.models import Agent, Project
from ledger.run_list.filter import EVERY_RUN, Bound, RunFilter
from ledger.run_list.paging import (
    SORTS,
    Page,
    Position,
    Sort,
    list_page,
    parse_cursor,
)
from ledger.run_list.scope import Scope
from ledger.run_list.totals import count_totals
from tests.support.builders import make_policy, make_robot

RUNS = 5_000
_MAKE = """
INSERT INTO ledger_run (code, project_id, agent_id, policy_id, lineage, task, intent, model,
  labels, status, status_reason, tokens_used, tool_calls_used, time_ms_used,
  cost_micros_used, steps, rework_steps, last_step, last_checkpoint_step, last_decision,
  memory, open_reviews, head_seq, head_hash, created_at, updated_at, finished_at)
SELECT gen_random_uuid(), %(project)s, %(agent)s, %(policy)s, '',
  'Task ' || n || repeat(' of many words', 20), 'general', 'model-' || n %% 50,
  jsonb_build_object('repo', 'repo-' || n %% 200),
  CASE WHEN n %% 200 = 0 THEN 'running' WHEN n %% 10 = 0 THEN 'failed' ELSE 'completed' END,
  '', n * 7 %% 9973, 1, n * 13 %% 9973, n * 11 %% 9973, n %% 97, 0, n %% 97, 0, 'continue',
  repeat('{}', 500), '[]', 1, '', now() - n * interval '1 minute', now(),
  CASE WHEN n %% 200 = 0 THEN NULL ELSE now() END
FROM generate_series(1, %(count)s) AS n
"""
_WORDS = """
INSERT INTO ledger_runwords (run_id, project_id, text)
SELECT id, project_id, 'task ' || right(code::text, 6) || repeat(' w', 200) FROM ledger_run
WHERE project_id = %s
"""
_FIND_NEWEST = """
INSERT INTO ledger_wordsindexed (project_id, position, newest_run)
SELECT project_id, 0, max(id) FROM ledger_run WHERE project_id = %s GROUP BY project_id
"""
TABLES = "ledger_run, ledger_runend, ledger_runwords, ledger_runoutcome"


@pytest.fixture
def scope(project: Project) -> Iterator[Scope]:
    """A project with many runs, until the test is over."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite plans the same for any number of rows.")
    make_robot(project=project)
    given = {
        "project": project.pk,
        "agent": Agent.objects.get(project=project, name="robo").pk,
        "policy": make_policy("plans", project=project).pk,
        "count": RUNS,
    }
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(_MAKE, given)
            cursor.execute(_WORDS, [project.pk])
            cursor.execute(_FIND_NEWEST, [project.pk])
            cursor.execute(f"ANALYZE {TABLES}")
        yield Scope(project_ids=(project.pk,))
        transaction.set_rollback(True)


def explain(act: Callable[[], object]) -> str:
    """The plans of everything that it asks the database."""
    with CaptureQueriesContext(
        connection,
    ) as asked:
        act()
    plans = []
    with connection.cursor() as cursor:
        for query in asked.captured_queries:
            cursor.execute(f"EXPLAIN {query['sql']}".replace("%", "%%"))
            plans.append(
                "\n".join([query["sql"], *(row[0] for row in cursor.fetchall())])
            )
    return "\n\n".join(plans)


FILTERS = {
    "every": EVERY_RUN,
    "failed": RunFilter(statuses=("failed",)),
    "agent": RunFilter(agents=("robo",)),
    "model": RunFilter(models=("model-7",)),
    "label": RunFilter(labels=((("repo", "repo-7"),),)),
    "dear": RunFilter(bounds=(Bound(figure="cost", operator=">", value=9_900),)),
    "words": RunFilter(texts=("abcdef",)),
    "early": RunFilter(until=datetime(2000, 1, 1, tzinfo=UTC)),
}


def test_no_filter_and_no_order_reads_all_runs(
    scope: Scope, subtests: pytest.Subtests
) -> None:
    for name, wanted in FILTERS.items():
        for key in ("started", "cost"):
            with subtests.test(name=name, key=key):
                plans = explain(partial(_list, scope, wanted, Sort(key=key)))
                assert "Seq Scan on ledger_run " not in plans, plans
        with subtests.test(totals=name):
            plans = explain(partial(count_totals, scope=scope, wanted=wanted))
            assert "Seq Scan on ledger_run " not in plans, plans
    for key in SORTS:
        with subtests.test(key=key):
            sort = Sort(key=key)
            cursor = _list(scope, EVERY_RUN, sort).next_cursor
            assert cursor is not None
            position = parse_cursor(cursor, scope=scope, sort=sort)
            plans = explain(partial(_list, scope, EVERY_RUN, sort, position))
            index = "run_by_beginning" if key == "started" else f"end_by_{key}"
            assert f"using {index}" in plans, plans
            assert "Seq Scan on ledger_run " not in plans, plans


def _list(
    scope: Scope, wanted: RunFilter, sort: Sort, position: Position | None = None
) -> Page:
    return list_page(
        scope=scope, wanted=wanted, sort=sort, position=position, limit=50, related=()
    )
