"""A row that cannot even be read is named, and the others are checked all the same."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import httpx
import pytest
from django.core.management import call_command
from django.db import DataError, OperationalError, connection

from ledger.models import Entry, Run
from ledger.verification import replay, unreadable, verify
from tests.ledger.tampering.editing import edit_rows
from tests.ledger.tampering.edits import OF_RUN, change, first
from tests.ledger.tampering.triggers import run_sql
from tests.support.builders import start_run

# Each leaves something that is no JSON, no text, or nothing of the form it should have.
UNREADABLE: dict[str, tuple[str, str]] = {
    "a checkpoint's state": (
        f"UPDATE ledger_checkpoint SET state = '{{{{oops' WHERE {OF_RUN}",
        "the checkpoint",
    ),
    "a permission's rules": (
        change("permission", "rules = 'oops'", OF_RUN),
        "the permission",
    ),
    "what the run remembers": (
        "UPDATE ledger_run SET memory = 'oops' WHERE id = {run}",
        "the run's memory",
    ),
    "what waits": (
        "UPDATE ledger_run SET open_reviews = '[1]' WHERE id = {run}",
        "the run's open_reviews",
    ),
}
UNREADABLE_HERE: dict[str, dict[str, tuple[str, str]]] = {
    "sqlite": {
        "a review's content": (
            change("review", "content = x'ff'", first("review")),
            "the review",
        ),
        "a review's title is no text": (
            change("review", "title = CAST(x'ff' AS text)", first("review")),
            "the review",
        ),
        "a review's moment": (
            change("review", "due_at = '2026-99-99 00:00:00'", first("review")),
            "the review",
        ),
        "a call's id": (
            change("toolcall", "code = 'oops'", first("toolcall", "review_id IS NULL")),
            "the call",
        ),
        "an entry's moment": (
            f"UPDATE ledger_entry SET at = '2026-99-99 00:00:00' WHERE {OF_RUN} AND seq = 2",
            " 2: ",
        ),
    },
    "postgresql": {
        "a review's moment": (
            change("review", "due_at = 'infinity'", first("review")),
            "the review",
        ),
        "an entry's moment": (
            f"UPDATE ledger_entry SET at = 'infinity' WHERE {OF_RUN} AND seq = 2",
            " 2: ",
        ),
    },
}


def test_a_row_that_cannot_be_read_is_named_and_the_others_are_checked(
    agent: httpx.Client,
    run: Run,
    capsys: pytest.CaptureFixture[str],
    few_runs: None,
    subtests: pytest.Subtests,
) -> None:
    later = Run.objects.get(code=start_run(agent))
    note = f"UPDATE ledger_run SET status_reason = 'x' WHERE id = {later.pk}"
    cases = {**UNREADABLE, **UNREADABLE_HERE[connection.vendor]}
    for what, (statement, words) in cases.items():
        edit = partial(run_sql, statement.format(run=run.pk))
        with subtests.test(what=what), edit_rows(edit):
            run_sql(note)
            for command_name in ("ledger_verify", "replay"):
                capsys.readouterr()
                with pytest.raises(SystemExit) as ended:
                    call_command(command_name)
                assert ended.value.code == 1
                said = capsys.readouterr().err.splitlines()
                mine = [line for line in said if f"run {run.code} " in line]
                assert any(words in line for line in mine), mine
                assert any(f"run {later.code} " in line for line in said), said


def test_every_entry_before_one_that_cannot_be_read_is_seen_once(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    # PostgreSQL's reader fails for a whole chunk, SQLite's for the row alone.
    monkeypatch.setattr(unreadable, "CHUNK", 2)
    moment = "2026-99-99 00:00:00" if connection.vendor == "sqlite" else "infinity"
    edit = (
        f"UPDATE ledger_entry SET at = '{moment}' WHERE run_id = {run.pk} AND seq = 4"
    )
    with edit_rows(partial(run_sql, edit)):
        entries = unreadable.read_entries(run.entries.order_by("seq"))
        assert [next(entries).seq for _ in range(3)] == [1, 2, 3]
        with pytest.raises((ValueError, DataError)):
            next(entries)


def test_the_api_names_a_row_that_cannot_be_read(
    agent: httpx.Client, run: Run, subtests: pytest.Subtests
) -> None:
    columns = {
        ("ledger_checkpoint", "state"): "{oops",
        ("reviews_permission", "rules"): "oops",
        ("ledger_run", "memory"): "oops",
        ("ledger_run", "open_reviews"): "[1]",
    }
    for (table, column), value in columns.items():
        which = "id" if table == "ledger_run" else "run_id"
        with subtests.test(column=column), connection.cursor() as cursor:
            cursor.execute(f"SELECT {column} FROM {table} WHERE {which} = %s", [run.pk])
            (before,) = cursor.fetchone()
            edit = f"UPDATE {table} SET {column} = %s WHERE {which} = %s"
            cursor.execute(edit, [value, run.pk])
            try:
                answer = agent.get(f"/runs/{run.code}/verify")
            finally:
                cursor.execute(edit, [before, run.pk])
            assert answer.status_code == 200, answer.text
            body = answer.json()
            assert body["ok"] is False
            assert body["first_bad_seq"] > 0
    assert agent.get(f"/runs/{run.code}/verify").json()["ok"] is True


def test_a_database_that_goes_away_breaks_no_run(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says nothing about the chain: whoever checks it has to try again."""

    def read_entries(_entries: object) -> Iterator[Entry]:
        raise OperationalError("the server closed the connection")

    for module in (verify, replay):
        monkeypatch.setattr(module, "read_entries", read_entries)

    with pytest.raises(OperationalError):
        verify.verify_run(run)
    with pytest.raises(OperationalError):
        replay.replay_run(run)
