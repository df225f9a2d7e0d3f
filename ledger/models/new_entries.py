"""Entries behind a position, read once for all that follows the ledger.

Payloads are unpacked and parsed here: that takes longer than to count them or to find their
words. The most frequent type has a reading of its own, which an app registers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple

from django.db import connection

from ledger.models.packing import unpack_text

_COLUMNS = "id, position, run_id, {at}, type, actor, payload"
_READ = (
    f"SELECT {_COLUMNS} FROM ledger_entry "  # noqa: S608 (names of this module)
    "WHERE project_id = %s AND position > %s AND position <= %s ORDER BY position"
)

ReadPayload = Callable[[str], dict[str, Any]]
_readings: dict[str, ReadPayload] = {}


class NewEntry(NamedTuple):
    id: int
    position: int
    run_id: int
    at: datetime
    type: str
    actor: str
    payload: dict[str, Any]


class Slice(NamedTuple):
    """What stands behind `after`, up to and with `upto`. Of `entries` only those of the
    types that were asked for and can be read; what was tampered with, `ledger_verify`
    names. `run_ids` and `newest` are of all."""

    project_id: int
    after: int
    upto: int
    entries: list[NewEntry]
    run_ids: set[int]
    newest: datetime | None


def register_reading(entry_type: str, read: ReadPayload) -> None:
    """For apps at start-up: reads no more of a payload, as it is kept, than figures and words
    need. What it cannot read is a ValueError."""
    _readings[entry_type] = read


def read_new_entries(
    *, project_id: int, after: int, upto: int, types: Collection[str]
) -> Slice:
    rows = _read_rows(project_id, after, upto)
    entries = []
    for key, position, run_id, at, entry_type, actor, kept in rows:
        if entry_type not in types:
            continue
        try:
            payload = _readings.get(entry_type, _read_whole)(kept)
        except (ValueError, RecursionError):
            continue
        moment = _parse_moment(at)
        entries.append(
            NewEntry(key, position, run_id, moment, entry_type, actor, payload)
        )
    return Slice(
        project_id=project_id,
        after=after,
        upto=upto,
        entries=entries,
        run_ids={row[2] for row in rows},
        newest=_parse_moment(rows[-1][3]) if rows else None,
    )


def _read_whole(kept: str) -> dict[str, Any]:
    payload: dict[str, Any] = json.loads(unpack_text(kept))
    return payload


def _read_rows(project_id: int, after: int, upto: int) -> list[tuple[Any, ...]]:
    # An expression: of a column the driver would parse each time anew (bench steps).
    at = "at" if connection.vendor == "postgresql" else "at || ''"
    with connection.cursor() as cursor:
        cursor.execute(_READ.format(at=at), [project_id, after, upto])
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


@lru_cache(maxsize=64)  # entries of one commit have one time
def _parse_moment(at: datetime | str) -> datetime:
    """SQLite keeps them in UTC, without saying so."""
    if isinstance(at, datetime):
        return at
    return datetime.fromisoformat(at).replace(tzinfo=UTC)
