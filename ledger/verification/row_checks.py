"""Rows that stand beside the chain, compared with what the chain says of them.

The apps above have such rows and know how they follow from the entries: they register a
comparison at start-up. It gets many runs at a time and reads them by a few queries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import connection

from ledger.models import Run

# A batch has so many entries, or one run.
BATCH_ENTRIES = 20_000
BATCH_RUNS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """A row that is not what the chain says; `seq` is the last entry about it."""

    run_id: int
    seq: int
    reason: str


Comparison = Callable[[Sequence[int]], Iterable[Mismatch]]
_comparisons: list[Comparison] = []


def register_comparison(comparison: Comparison) -> None:
    """For apps at start-up."""
    _comparisons.append(comparison)


def compare_runs(runs: Sequence[Run]) -> list[Mismatch]:
    """Every row of these runs that differs from their chains, in order."""
    ids = [run.pk for run in runs]
    with _read_snapshot():
        found = [each for compare in _comparisons for each in compare(ids)]
    return sorted(found, key=lambda each: (each.run_id, each.seq, each.reason))


def list_batches(runs: Iterable[Run]) -> Iterator[list[Run]]:
    """Runs in batches that fit into memory together."""
    batch: list[Run] = []
    entries = 0
    for run in runs:
        batch.append(run)
        entries += run.head_seq
        if entries >= BATCH_ENTRIES or len(batch) >= BATCH_RUNS:
            yield batch
            batch, entries = [], 0
    if batch:
        yield batch


@contextmanager
def _read_snapshot() -> Iterator[None]:
    """Runs go on moving: entries and rows are read as they were at one moment.

    Not by Django's own transaction: on SQLite that would hold up every writer.
    """
    if connection.in_atomic_block:
        yield
        return
    postgres = connection.vendor == "postgresql"
    _run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" if postgres else "BEGIN")
    try:
        yield
    finally:
        _run("COMMIT")


def _run(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
