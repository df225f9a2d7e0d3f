"""How long runs were running, from what the server's clock said when they were judged.

Each step and each call has the time of its run so far (`running_ms`): without what it stood
paused, stopped, halted or idle. What has passed since the reading before is counted with the
entry. After the last one of a run nothing is counted: nobody has heard of its agent then.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.db.models import OuterRef, Subquery

from ledger.models import Entry
from ledger.statistics.registry import Added, CountedEntry

READINGS = ("step.judged", "call.judged")


def count_running_time(entries: Sequence[CountedEntry]) -> Iterator[Added]:
    readings = [
        (entry, reading)
        for entry in sorted(entries, key=lambda each: each.position)
        if (reading := _get_reading(entry.payload)) is not None
    ]
    first: dict[int, int] = {}
    for entry, _ in readings:
        first.setdefault(entry.run_id, entry.id)
    newest = _read_before(first.values())
    for entry, reading in readings:
        passed = reading - newest.get(entry.run_id, 0)
        newest[entry.run_id] = reading
        if passed > 0:
            yield Added(entry=entry, totals={"running_ms": passed})


def _get_reading(payload: Any) -> int | None:
    """None of a run of which no time is kept."""
    found = payload.get("running_ms") if isinstance(payload, Mapping) else None
    return found if isinstance(found, int) else None


def _read_before(ids: Iterable[int]) -> dict[int, int]:
    """By run, the last reading before each of these entries, of which no two are of one
    run. What was tampered with is passed over, as it is when entries are counted."""
    before: dict[int, int] = {}
    wanted = list(ids)
    while wanted:
        earlier = Entry.objects.filter(
            run_id=OuterRef("run_id"), seq__lt=OuterRef("seq"), type__in=READINGS
        ).order_by("-seq")
        found = Entry.objects.filter(pk__in=wanted).values_list(
            Subquery(earlier.values("pk")[:1]), flat=True
        )
        rows = Entry.objects.filter(pk__in=[pk for pk in found if pk is not None])
        wanted = []
        for pk, run_id, text in rows.values_list("pk", "run_id", "payload"):
            reading = _parse_reading(text)
            if reading is None:
                wanted.append(pk)
            else:
                before[run_id] = reading
    return before


def _parse_reading(text: str) -> int | None:
    try:
        return _get_reading(json.loads(text))
    except ValueError:
        return None
