"""Expected rows beside stored ones, many runs at a time."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.db.models import Q

from guidance.core.canonical import to_canonical_json
from ledger.chain import format_timestamp
from ledger.models import Entry, Run
from ledger.verification.row_checks import Mismatch
from ledger.verification.unreadable import describe, refuse_other
from reviews.row_checks.rows import (
    UNKNOWN,
    EntryOrigin,
    Expected,
    ExpectedRows,
    Key,
    list_types,
)
from reviews.row_checks.stored import TABLES, Table, Values

# Long texts are cut in what is said about them.
SHOWN = 120


def compare_with_chain(run_ids: Sequence[int]) -> Iterator[Mismatch]:
    """Every row that was changed, removed or added past the writer."""
    runs = Run.objects.filter(pk__in=run_ids).values_list("pk", "code", "project_id")
    expected = {
        pk: ExpectedRows(run_code=str(code), project_id=project)
        for pk, code, project in runs
    }
    unreadable: set[int] = set()
    # A step that holds its run breaks a rule, and one that stops it revokes what was
    # granted; other steps touch no row here.
    entries = (
        Entry.objects.filter(
            Q(type__in=list_types()) | Q(decision__in=("pause", "stop")),
            run_id__in=run_ids,
        )
        .order_by("run_id", "seq")
        .values_list("run_id", "seq", "at", "actor", "type", "payload", "decision")
    )
    for run_id, seq, at, actor, kind, payload, decision in entries.iterator(1000):
        now = EntryOrigin(seq=seq, at=format_timestamp(at), actor=actor)
        if decision == "stop":
            expected[run_id].revoke_grants(now)
        if run_id not in unreadable:
            try:
                expected[run_id].take(kind, json.loads(payload), now)
            except Exception as error:
                refuse_other(error)
                unreadable.add(run_id)
                reason = f"its {kind} fits no row: {describe(error)}"
                yield Mismatch(run_id=run_id, seq=seq, reason=reason)
    for table in TABLES:
        for mismatch in compare_table(table, run_ids, expected):
            if mismatch.run_id not in unreadable:
                yield mismatch


def compare_table(
    table: Table, run_ids: Sequence[int], expected: Mapping[int, ExpectedRows]
) -> Iterator[Mismatch]:
    """Each row of one kind; the owners are runs, or a project that has a chain."""
    seen: dict[int, Counter[Key]] = defaultdict(Counter)
    for stored in table.read(run_ids):
        run_id, key = stored.run_id, stored.key
        name = f"the {table.name} {_cut(' '.join(key))}"
        row = expected[run_id].get_table(table.name).get(key)
        seq = expected[run_id].seq if row is None else row.seq
        seen[run_id][key] += 1
        reason: str | None
        if stored.trouble:
            reason = f"{name} is damaged: {stored.trouble}"
        elif row is None and table.may_be_untold(stored.values):
            reason = None
        elif row is None:
            reason = f"{name} is stored, and no entry tells of it"
        else:
            reason = _find_difference(name, row, stored.values)
        if reason is not None:
            yield Mismatch(run_id=run_id, seq=seq, reason=reason, key=key)
    for run_id in run_ids:
        for key, row in expected[run_id].get_table(table.name).items():
            times = seen[run_id][key]
            if times == row.count or (row.may_be_gone and not times):
                continue
            name = f"the {table.name} {_cut(' '.join(key))}"
            reason = f"{name} is stored {times} times, the chain says {row.count}"
            if times < row.count:
                reason = f"{name} is missing"
            yield Mismatch(run_id=run_id, seq=row.seq, reason=reason, key=key)


def _find_difference(name: str, row: Expected, values: Values) -> str | None:
    """The first column that is not what the chain says."""
    for column, value in values.items():
        said = row.values[column]
        if said is not UNKNOWN and value != said:
            return f"{name} has {column} {_describe_value(value)}, the chain says {_describe_value(said)}"
    return None


def _describe_value(value: Any) -> str:
    try:
        return _cut(to_canonical_json(value))
    except ValueError:  # a number that JSON does not know
        return _cut(repr(value))


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
