"""A slice of a project's ledger as rows of figures: the same rows whenever it is read."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from accounts.models import SYSTEM_AGENTS
from ledger.models import Entry, Interval, Run
from ledger.models.new_entries import Slice, read_new_entries
from ledger.statistics.periods import round_to_hour
from ledger.statistics.registry import (
    count_entries,
    is_counted,
    list_counted_types,
)
from ledger.statistics.totals import Totals

# So many labels of a run are counted, by the order of their names.
LABELS_LIMIT = 8
KEY_LENGTH = 200
COLUMNS = tuple(each.name for each in fields(Totals))
_PLACES = {name: place for place, name in enumerate(COLUMNS)}
_MOVED = "run.policy_changed"
# Entries of one commit have one time.
_round_to_hour = lru_cache(maxsize=16)(round_to_hour)


class Key(NamedTuple):
    """What makes a row the only one, as `DIMENSIONS` of its table without the project."""

    interval: str
    at: datetime
    agent_id: int
    model: str
    intent: str
    policy: str
    label_name: str
    label_value: str


@dataclass(slots=True)
class _Group:
    """What entries of a run add that count in the same rows."""

    totals: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    counts: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))


@dataclass(slots=True)
class Figures:
    """Rows to add: sums in the order of COLUMNS, and counts by kind and key."""

    totals: dict[Key, list[int]] = field(
        default_factory=lambda: defaultdict(lambda: [0] * len(COLUMNS))
    )
    counts: dict[tuple[Key, str, str], int] = field(
        default_factory=lambda: defaultdict(int)
    )
    entries: int = 0
    newest: datetime | None = None

    def add_group(self, key: Key, group: _Group) -> None:
        if group.totals:
            sums = self.totals[key]
            for name, number in group.totals.items():
                sums[_PLACES[name]] += number
        for (kind, name), number in group.counts.items():
            self.counts[key, kind, name] += number

    def add(self, other: Figures) -> None:
        for key, sums in other.totals.items():
            mine = self.totals[key]
            for place, number in enumerate(sums):
                mine[place] += number
        for named, number in other.counts.items():
            self.counts[named] += number
        self.entries += other.entries


def read_slice(*, project_id: int, after: int, upto: int) -> Figures:
    """What the entries behind `after` add, up to and with `upto`."""
    types = list_counted_types()
    return sum_up(
        read_new_entries(project_id=project_id, after=after, upto=upto, types=types)
    )


def sum_up(found: Slice) -> Figures:
    runs = _read_runs(found.run_ids)
    figures = Figures(entries=found.upto - found.after, newest=found.newest)
    entries = [
        entry
        for entry in found.entries
        if entry.run_id in runs
        and is_counted(entry.type, of_system_run=runs[entry.run_id].of_system)
    ]
    # Many entries of a run count in the same rows: those are found once for all.
    groups: dict[tuple[int, datetime, str], _Group] = defaultdict(_Group)
    for entry, totals, counts in count_entries(entries):
        run_id = entry.run_id
        policy = runs[run_id].find_policy(entry.position)
        group = groups[run_id, _round_to_hour(entry.at), policy]
        sums = group.totals
        for name, number in totals.items():
            sums[name] += number
        for kind, name in counts:
            group.counts[kind, name[:KEY_LENGTH]] += 1
    for (run_id, hour, policy), group in groups.items():
        for key in runs[run_id].list_keys(hour, policy):
            figures.add_group(key, group)
    return figures


@dataclass(slots=True, kw_only=True)
class _CountedRun:
    agent_id: int
    model: str
    intent: str
    policy: str
    labels: Sequence[tuple[str, str]]
    of_system: bool
    # Where it went on under another version: the position, the version before, and after.
    moves: list[tuple[int, str, str]] = field(default_factory=list)

    def list_keys(self, hour: datetime, policy: str) -> Iterator[Key]:
        """The rows that entries of this hour count in."""
        for interval, at in (
            (Interval.HOUR.value, hour),
            (Interval.DAY.value, hour.replace(hour=0)),
        ):
            for name, value in (("", ""), *self.labels):
                yield Key(
                    interval=interval,
                    at=at,
                    agent_id=self.agent_id,
                    model=self.model,
                    intent=self.intent,
                    policy=policy,
                    label_name=name,
                    label_value=value,
                )

    def find_policy(self, position: int) -> str:
        """The version that it was judged by there."""
        if not self.moves:
            return self.policy
        found = self.moves[0][1]
        for moved_at, _before, after in self.moves:
            if moved_at < position:
                found = after
        return found


def _read_runs(ids: Iterable[int]) -> dict[int, _CountedRun]:
    rows = Run.objects.filter(pk__in=list(ids)).values_list(
        *("pk", "agent_id", "model", "intent", "labels"),
        *("policy__name", "policy__version"),
    )
    runs = {
        pk: _CountedRun(
            agent_id=agent_id,
            model=model,
            intent=intent,
            policy=f"{name}@{version}",
            labels=sorted(labels.items())[:LABELS_LIMIT],
            of_system=intent in SYSTEM_AGENTS,
        )
        for pk, agent_id, model, intent, labels, name, version in rows
    }
    moves = Entry.objects.filter(run_id__in=list(runs), type=_MOVED)
    for position, run_id, text in moves.order_by("position").values_list(
        "position", "run_id", "payload"
    ):
        try:
            stamps = json.loads(text)
            before, after = map(_format_stamp, (stamps["before"], stamps["policy"]))
        except (KeyError, TypeError, ValueError):
            continue  # it was tampered with: ledger_verify names it
        runs[run_id].moves.append((position, before, after))
    return runs


def _format_stamp(stamp: dict[str, Any]) -> str:
    return f"{stamp['name']}@{stamp['version']}"
