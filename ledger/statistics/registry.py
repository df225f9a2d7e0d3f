"""What entries add to the figures.

The app that writes a type of entry registers what it counts for, in its `AppConfig.ready`:

    register_counting(("step.judged",), count_steps)

The function gets all entries of these types in a slice of the ledger at once, so that it
can read what it needs beside them with one query. What it reads must never change later:
the same entries have to add the same whenever they are counted.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from types import MappingProxyType
from typing import NamedTuple

from ledger.models.new_entries import NewEntry

logger = logging.getLogger(__name__)


CountedEntry = NewEntry
_POSITION = attrgetter("position")
NO_TOTALS: Mapping[str, int] = MappingProxyType({})


class Added(NamedTuple):
    """What one entry adds: to columns of `PeriodTotals`, and one to each `(kind, key)`."""

    entry: CountedEntry
    totals: Mapping[str, int] = NO_TOTALS
    counts: Sequence[tuple[str, str]] = ()


CountEntries = Callable[[Sequence[CountedEntry]], Iterable[Added]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counting:
    count: CountEntries
    # Whether entries of the server's own runs are counted, too.
    of_system_runs: bool


_countings: dict[CountEntries, tuple[str, ...]] = {}
_by_type: dict[str, Counting] = {}


def register_counting(
    types: Sequence[str], count: CountEntries, *, of_system_runs: bool = False
) -> None:
    _countings[count] = tuple(types)
    for name in types:
        _by_type[name] = Counting(count=count, of_system_runs=of_system_runs)


def list_counted_types() -> list[str]:
    return sorted(_by_type)


def is_counted(entry_type: str, *, of_system_run: bool) -> bool:
    counting = _by_type.get(entry_type)
    return counting is not None and (counting.of_system_runs or not of_system_run)


def count_entries(entries: Sequence[CountedEntry]) -> Iterable[Added]:
    found: dict[str, list[CountedEntry]] = defaultdict(list)
    for entry in entries:
        found[entry.type].append(entry)
    for count, types in _countings.items():
        lists = [found[name] for name in types if name in found]
        ours = lists[0] if len(lists) == 1 else sorted(chain(*lists), key=_POSITION)
        if ours:
            yield from _count_safely(count, ours)


def _count_safely(count: CountEntries, entries: Sequence[CountedEntry]) -> list[Added]:
    """An entry that cannot be read adds nothing, now and at every recount: the figures of
    all others must not wait for it."""
    try:
        return list(count(entries))
    except (KeyError, TypeError, ValueError, AttributeError):
        if len(entries) == 1:
            entry = entries[0]
            logger.warning(
                "Entry %s of run %s cannot be counted", entry.position, entry.run_id
            )
            return []
    return [each for entry in entries for each in _count_safely(count, [entry])]
