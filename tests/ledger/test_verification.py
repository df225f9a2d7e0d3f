"""Checks of a ledger that is in use: many runs at a time, and runs that move meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import httpx
import pytest
from django.db import (
    DataError,
    InterfaceError,
    OperationalError,
    connection,
    transaction,
)

from accounts.models import Project
from ledger.models import Entry, Run
from ledger.verification import row_checks, verify
from ledger.verification.missing import list_missing_positions, list_missing_runs
from ledger.verification.row_checks import Mismatch, compare_runs, list_batches
from ledger.verification.unreadable import describe, read_entries, refuse_other
from tests.ledger.tampering.editing import edit_rows
from tests.ledger.tampering.triggers import run_sql
from tests.support.builders import start_run, step


def report(agent: httpx.Client, run: str, number: int) -> None:
    answer = agent.post(f"/runs/{run}/steps", json=step(number))
    assert answer.status_code == 201, answer.text


def test_a_run_that_moves_while_it_is_checked_is_checked_as_it_was(
    agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = start_run(agent)
    run = Run.objects.get(code=code)
    report(agent, code, 1)

    def move_and_read(entries: Any) -> Iterator[Entry]:
        report(agent, code, 2)
        yield from read_entries(entries)

    monkeypatch.setattr(verify, "read_entries", move_and_read)

    result = verify.verify_run(run)

    assert (result.ok, result.reason, result.entries) == (True, None, 2)
    assert Run.objects.get(code=code).head_seq == 3


def build_runs(*heads: int) -> list[Run]:
    return [Run(pk=pk, head_seq=head) for pk, head in enumerate(heads, 1)]


def test_runs_are_compared_in_batches_that_fit_into_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(row_checks, "BATCH_ENTRIES", 10)
    monkeypatch.setattr(row_checks, "BATCH_RUNS", 3)
    cases: dict[tuple[int, ...], list[list[int]]] = {
        (): [],
        (1,): [[1]],
        (4, 5, 1, 1): [[4, 5, 1], [1]],
        (1, 1, 1, 1, 1): [[1, 1, 1], [1, 1]],
        (10, 9, 1, 25, 2): [[10], [9, 1], [25], [2]],
        (9, 9, 9): [[9, 9], [9]],
    }
    for heads, expected in cases.items():
        batches = list(list_batches(build_runs(*heads)))
        assert [[run.head_seq for run in batch] for batch in batches] == expected


def test_differences_come_by_run_and_entry(
    agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (Run.objects.get(code=start_run(agent)) for _ in range(2))
    found = [
        Mismatch(run_id=second.pk, seq=1, reason="a"),
        Mismatch(run_id=first.pk, seq=9, reason="b"),
        Mismatch(run_id=first.pk, seq=2, reason="d"),
        Mismatch(run_id=first.pk, seq=2, reason="c"),
    ]
    asked: list[Sequence[int]] = []

    def compare(ids: Sequence[int]) -> list[Mismatch]:
        asked.append(ids)
        return found[len(asked) - 1 :: 2]

    monkeypatch.setattr(row_checks, "_comparisons", [compare, compare])

    told = compare_runs([first, second])

    assert [each.reason for each in told] == ["c", "d", "b", "a"]
    assert asked == [[first.pk, second.pk]] * 2


def test_rows_and_entries_are_read_as_of_one_moment(
    agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = start_run(agent)
    run = Run.objects.get(code=code)
    counts: list[tuple[int, int]] = []

    def compare(_ids: Sequence[int]) -> list[Mismatch]:
        before = run.entries.count()
        report(agent, code, len(counts) + 1)
        counts.append((before, run.entries.count()))
        return []

    monkeypatch.setattr(row_checks, "_comparisons", [compare, compare])

    assert compare_runs([run]) == []

    assert counts == [(1, 1), (1, 1)]
    assert run.entries.count() == 3


def test_a_comparison_that_fails_leaves_no_transaction_open(
    agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Run.objects.get(code=start_run(agent))

    def fail(_ids: Sequence[int]) -> list[Mismatch]:
        assert _is_in_transaction()
        raise LookupError("of our own making")

    monkeypatch.setattr(row_checks, "_comparisons", [fail])
    with pytest.raises(LookupError):
        compare_runs([run])
    assert not _is_in_transaction()

    with transaction.atomic():
        with pytest.raises(LookupError):
            compare_runs([run])
        assert _is_in_transaction()


def _is_in_transaction() -> bool:
    Run.objects.exists()
    if connection.vendor == "sqlite":
        return bool(connection.connection.in_transaction)
    return bool(connection.connection.info.transaction_status.name != "IDLE")


def test_a_project_whose_positions_are_not_those_handed_out_is_named(
    agent: httpx.Client, project: Project
) -> None:
    """Neither the last nor the first may be elsewhere, and none may be missing."""
    runs = [Run.objects.get(code=start_run(agent)) for _ in range(2)]
    mine = f"project {project.slug}: 2 positions were handed out, "
    delete = f"DELETE FROM ledger_entry WHERE project_id = {project.pk}"
    move = f"UPDATE ledger_entry SET position = %s WHERE run_id = {runs[0].pk}"
    cases = {
        move % 0: "2 entries are stored (from 0 to 2)",
        move % 3: "2 entries are stored (from 2 to 3)",
        f"{delete} AND position = 1": "1 entries are stored (from 2 to 2)",
        f"{delete} AND position = 2": "1 entries are stored (from 1 to 1)",
        delete: "0 entries are stored (from 0 to 0)",
    }
    assert not [each for each in list_missing_positions() if project.slug in each]
    for statement, said in cases.items():
        with edit_rows(partial(run_sql, statement)):
            assert mine + said in list_missing_positions()


def test_entries_without_their_run_are_counted_by_project(
    agent: httpx.Client, project: Project
) -> None:
    runs = [Run.objects.get(code=start_run(agent)) for _ in range(2)]
    report(agent, str(runs[1].code), 1)
    assert not [each for each in list_missing_runs() if project.slug in each]
    with transaction.atomic():
        run_sql(f"DELETE FROM ledger_run WHERE id = {runs[1].pk}")
        told = f"project {project.slug}: the run of 2 entries is gone"
        assert told in list_missing_runs()
        run_sql(f"DELETE FROM accounts_project WHERE id = {project.pk}")
        told = f"project {project.pk}: the run of 2 entries is gone"
        assert told in list_missing_runs()
        transaction.set_rollback(True)


@pytest.mark.parametrize(
    ("error", "of_the_row"),
    [
        (OverflowError(), True),
        (AttributeError(), True),
        (DataError("out of range"), True),
        (KeyError("report"), True),
        (IndexError(), True),
        (RecursionError(), True),
        (StopIteration(), True),
        (TypeError(), True),
        (ValueError(), True),
        (OperationalError("Could not decode to UTF-8 column 'payload'"), True),
        (OperationalError("the server closed the connection"), False),
        (InterfaceError("could not decode: connection already closed"), False),
        (MemoryError(), False),
        (OSError("decode"), False),
    ],
    ids=repr,
)
def test_what_a_row_raises_is_told_from_what_a_database_raises(
    error: Exception, of_the_row: bool
) -> None:
    if of_the_row:
        refuse_other(error)
        assert type(error).__name__ in describe(error)
    else:
        with pytest.raises(type(error)):
            refuse_other(error)
