"""What a shadow costs the database: nothing, but for one row where the two differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import httpx
import pytest
from django.db import connection

from accounts.models import Project
from ledger.plan import NewRow
from ledger.writer import (
    batch,
    db_threads,
    locking,
    new_rows,
    sql,
    store_postgresql,
)
from tests.gateway.calls.calls import command
from tests.gateway.shadow.watching import list_seen, watch
from tests.support.builders import Person, start_run, step

STORED = "store the run"
ITEM = "reviews_policyshadowitem"
STRICT: dict[str, Any] = {
    "continue": {"max_uncertainty": 0.4},
    "tools": {"rules": {"git-push-force": "warn"}},
}


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the writer and the threads that read for the event loop say to the database."""
    said: list[str] = []
    execute, store_runs = sql.execute, locking.store_runs
    send_runs, run_query = store_postgresql.send_runs, db_threads._run_query
    insert_rows = new_rows.insert_rows
    judge, begin = batch.Committer.judge, batch.Committer.begin

    def note(call: Any, text: str, *more: Any) -> Any:
        said.append(text)
        return call(text, *more)

    def execute_noted(text: str, given: Sequence[Any]) -> list[sql.Row]:
        said.append(text)
        return execute(text, given)

    def store_noted(writes: Any) -> set[int]:
        said.append(STORED)
        return store_runs(writes)

    def send_noted(writes: Any, rows: Any) -> Any:
        said.append(STORED)
        said.extend(sorted({row.table.model._meta.db_table for _, row in rows}))
        return send_runs(writes, rows)

    def insert_noted(rows: Any) -> None:
        given = (row for row in rows if isinstance(row, NewRow))
        if connection.vendor == "sqlite":  # by the driver itself
            said.extend(sorted({row.table.model._meta.db_table for row in given}))
        insert_rows(rows)

    def run_noted(query: Callable[[], Any]) -> Any:
        with connection.execute_wrapper(note):
            return run_query(query)

    def judge_noted(committer: Any, jobs: Any, before: Any = None) -> Any:
        with connection.execute_wrapper(note):
            return judge(committer, jobs, before)

    def begin_noted(committer: Any, judged: Any) -> Any:
        with connection.execute_wrapper(note):
            return begin(committer, judged)

    monkeypatch.setattr(sql, "execute", execute_noted)
    monkeypatch.setattr(batch, "store_runs", store_noted)
    monkeypatch.setattr(db_threads, "_run_query", run_noted)
    monkeypatch.setattr(batch, "send_runs", send_noted)
    monkeypatch.setattr(batch, "insert_rows", insert_noted)
    monkeypatch.setattr(batch.Committer, "judge", judge_noted)
    monkeypatch.setattr(batch.Committer, "begin", begin_noted)
    return said


def take(statements: list[str]) -> list[str]:
    """Without what the server reads by the clock, and how SQLite begins."""
    found = [each for each in statements if not each.startswith("BEGIN")]
    found = [each for each in found if ITEM in each or "policyshadow" not in each]
    statements.clear()
    return [ITEM if ITEM in each else each for each in found]


def test_a_step_costs_one_row_where_the_two_differ_and_nothing_else(
    agent: httpx.Client, project: Project, alice: Person, statements: list[str]
) -> None:
    run = start_run(agent)
    agent.post(f"/runs/{run}/steps", json=step(1))
    take(statements)
    agent.post(f"/runs/{run}/steps", json=step(2, uncertainty=0.1))
    alone = take(statements)
    shadow = watch(project, alice, STRICT)
    take(statements)
    agent.post(f"/runs/{run}/steps", json=step(3, uncertainty=0.1))
    same = take(statements)
    agent.post(f"/runs/{run}/steps", json=step(4, uncertainty=0.5))
    differs = take(statements)
    assert alone.count(STORED) == 1
    assert same == alone
    assert differs == [*alone, ITEM]
    assert len(list_seen(shadow)) == 1


def test_a_call_costs_one_row_where_the_two_differ_and_nothing_else(
    agent: httpx.Client, project: Project, alice: Person, statements: list[str]
) -> None:
    run = start_run(agent)
    command(agent, run, "ls")
    take(statements)
    command(agent, run, "ls -a")
    alone = take(statements)
    shadow = watch(project, alice, {"budget": {"tool_calls": 3}})
    take(statements)
    command(agent, run, "ls -b")
    same = take(statements)
    command(agent, run, "ls -c")
    differs = take(statements)
    assert same == alone
    assert [each for each in differs if each != ITEM] == alone
    assert differs.count(ITEM) == 1
    assert len(list_seen(shadow)) == 1
