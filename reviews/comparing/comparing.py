"""Expected rows beside stored ones, many runs at a time."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import Q

from guidance.core.canonical import canonical
from ledger.beside import Mismatch
from ledger.chain import timestamp
from ledger.models import Entry
from reviews.comparing.expected import TYPES, ExpectedRows, Key, Moment
from reviews.comparing.stored import TABLES, Table

# Long texts are cut in what is said about them.
SHOWN = 120


def compare_with_chain(run_ids: Sequence[int]) -> Iterator[Mismatch]:
    """Every row that was changed, removed or added past the writer."""
    expected: dict[int, ExpectedRows] = defaultdict(ExpectedRows)
    unreadable: set[int] = set()
    # A step that stops its run revokes what was granted; other steps touch no row here.
    entries = (
        Entry.objects.filter(Q(type__in=TYPES) | Q(decision="stop"), run_id__in=run_ids)
        .order_by("run_id", "seq")
        .values_list("run_id", "seq", "at", "actor", "type", "payload", "decision")
    )
    for run_id, seq, at, actor, kind, payload, decision in entries.iterator(1000):
        now = Moment(seq=seq, at=timestamp(at), actor=actor)
        if decision == "stop":
            expected[run_id].revoke_grants(now)
        elif run_id not in unreadable:
            try:
                expected[run_id].take(kind, json.loads(payload), now)
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                unreadable.add(run_id)
                reason = f"its {kind} fits no row ({type(error).__name__}: {error})"
                yield Mismatch(run_id=run_id, seq=seq, reason=reason)
    for table in TABLES:
        for mismatch in _compare_table(table, run_ids, expected):
            if mismatch.run_id not in unreadable:
                yield mismatch


def _compare_table(
    table: Table, run_ids: Sequence[int], expected: dict[int, ExpectedRows]
) -> Iterator[Mismatch]:
    seen: dict[int, set[Key]] = defaultdict(set)
    for run_id, key, values in table.read(run_ids):
        name = f"the {table.name} {_cut(' '.join(key))}"
        of_run = expected[run_id]
        row = of_run.of(table.name).get(key)
        if row is None:
            reason = f"{name} is stored, and no entry tells of it"
            yield Mismatch(run_id=run_id, seq=of_run.seq, reason=reason)
            continue
        if key in seen[run_id]:
            yield Mismatch(run_id=run_id, seq=row.seq, reason=f"{name} is stored twice")
        seen[run_id].add(key)
        for column, value in values.items():
            said = row.values.get(column)
            if value != said:
                reason = f"{name} has {column} {_words(value)}, the chain says {_words(said)}"
                yield Mismatch(run_id=run_id, seq=row.seq, reason=reason)
                break
    for run_id in run_ids:
        rows = expected[run_id].of(table.name) if run_id in expected else {}
        for key in rows.keys() - seen[run_id]:
            reason = f"the {table.name} {_cut(' '.join(key))} is missing"
            yield Mismatch(run_id=run_id, seq=rows[key].seq, reason=reason)


def _words(value: Any) -> str:
    return _cut(canonical(value))


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
