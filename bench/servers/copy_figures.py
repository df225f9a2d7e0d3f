"""What the tasks would make of copied runs: figures, and the words they are found by.

A copy has the figures of its template, some whole hours earlier. Counting and indexing
millions of entries, which the tasks do beside the agents for months, would take an hour.
`tests/bench/test_copies.py` compares what is made here with what the tasks make.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from ledger.models import (
    Entry,
    Interval,
    ProjectHead,
    Run,
    RunWords,
    StatisticsCursor,
    WordsIndexed,
)
from ledger.run_list.words import mark_code
from ledger.statistics.slices import Figures, Key, read_slice
from ledger.statistics.store import add_figures


@dataclass(frozen=True, slots=True)
class CopiedFigures:
    """What one run adds to the figures, without its days: those follow from its hours."""

    totals: Sequence[tuple[Key, list[int]]]
    counts: Sequence[tuple[Key, str, str, int]]
    entries: int

    @classmethod
    def read(cls, run: Run, entries: Sequence[Entry]) -> CopiedFigures:
        first, last = entries[0].position, entries[-1].position
        if last - first + 1 != len(entries):
            raise ValueError("Entries of another run stand between those of this one.")
        found = read_slice(project_id=run.project_id, after=first - 1, upto=last)
        return cls(
            totals=[
                (key, sums)
                for key, sums in found.totals.items()
                if key.interval == Interval.HOUR
            ],
            counts=[
                (key, kind, name, number)
                for (key, kind, name), number in found.counts.items()
                if key.interval == Interval.HOUR
            ],
            entries=len(entries),
        )

    def add_to(self, figures: Figures, *, ago: timedelta) -> None:
        for key, sums in self.totals:
            for moved in _move(key, ago):
                mine = figures.totals[moved]
                for place, number in enumerate(sums):
                    mine[place] += number
        for key, kind, name, number in self.counts:
            for moved in _move(key, ago):
                figures.counts[moved, kind, name] += number
        figures.entries += self.entries


@dataclass(frozen=True, slots=True)
class CopiedWords:
    """The words of a run, without the one that its code is marked by."""

    words: Sequence[str]

    @classmethod
    def read(cls, run: Run) -> CopiedWords:
        kept = RunWords.objects.get(run=run).text.split(" ")
        return cls([word for word in kept if word != _mark(run.code)])

    def build_text(self, code: UUID) -> str:
        return " ".join([_mark(code), *self.words])


def store_copied(head: ProjectHead, figures: Figures, *, newest_run: int) -> None:
    """Add the figures, and say that everything up to the head is counted and indexed."""
    add_figures(project_id=head.project_id, figures=figures)
    StatisticsCursor.objects.filter(project_id=head.project_id).update(
        position=head.position
    )
    WordsIndexed.objects.filter(project_id=head.project_id).update(
        position=head.position, newest_run=newest_run
    )


def _move(key: Key, ago: timedelta) -> tuple[Key, Key]:
    hour = key.at - ago
    day = key._replace(interval=Interval.DAY.value, at=hour.replace(hour=0))
    return key._replace(at=hour), day


def _mark(code: UUID) -> str:
    return mark_code(str(code)[-6:])
