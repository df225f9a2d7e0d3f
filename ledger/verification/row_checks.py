"""Rows that stand beside the chain, compared with what the chain says of them.

The apps above have such rows and know how they follow from the entries: they register a
comparison at start-up. It gets many runs at a time and reads them by a few queries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from ledger.models import Run
from ledger.verification.snapshot import read_snapshot

# A batch has so many entries, or one run.
BATCH_ENTRIES = 20_000
BATCH_RUNS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """A row that is not what the chain says; `seq` is the last entry about it, `key` names
    the row among those of its kind."""

    run_id: int
    seq: int
    reason: str
    key: tuple[str, ...] = ()


Comparison = Callable[[Sequence[int]], Iterable[Mismatch]]
_comparisons: list[Comparison] = []


def register_comparison(comparison: Comparison) -> None:
    """For apps at start-up."""
    _comparisons.append(comparison)


def compare_runs(runs: Sequence[Run]) -> list[Mismatch]:
    """Every row of these runs that differs from their chains, in order."""
    ids = [run.pk for run in runs]
    with read_snapshot():
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
