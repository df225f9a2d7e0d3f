"""Are the rows of halts what their chain says?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from accounts.models import SYSTEM_SETTINGS
from ledger.chain import format_timestamp
from ledger.models import Entry, Halt, Run
from ledger.verification.row_checks import Mismatch
from ledger.verification.unreadable import describe, refuse_other
from reviews.halts.schemas import serialize_scope
from reviews.halts.selectors import RELATED
from reviews.row_checks import EntryOrigin, ExpectedRows, Payload

# By the halt's id: what the chain says of it, and the entry that said so last.
Expected = dict[str, tuple[dict[str, Any], int]]
_STANDING = {"released_by": None, "released_at": None, "release_reason": ""}


def move_expected(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    """What giving a run its time back does to its rows."""
    for moved in payload["reviews"]:
        review = rows.get_table("review")[moved["review"],]
        review.change(
            now, **{name: at for name, at in moved.items() if name != "review"}
        )
    for moved in payload["grants"]:
        grant = rows.get_table("grant")[moved["call"],]
        grant.change(now, expires_at=moved["expires_at"])


def compare_halts(run_ids: Sequence[int]) -> Iterator[Mismatch]:
    """Every row of halts that was changed, removed or added past the writer.

    The chain may go over several runs: what it says in the end is told of the last one.
    """
    chains = Run.objects.filter(intent=SYSTEM_SETTINGS, agent__name=SYSTEM_SETTINGS)
    projects = chains.filter(pk__in=run_ids).values_list("project_id", flat=True)
    for project_id in sorted(set(projects)):
        newest = chains.filter(project_id=project_id).latest("pk")
        if newest.pk in run_ids:
            for reason, seq in _list_faults(project_id):
                yield Mismatch(run_id=newest.pk, seq=seq, reason=reason)


def _list_faults(project_id: int) -> Iterator[tuple[str, int]]:
    expected: Expected = {}
    entries = Entry.objects.filter(
        project_id=project_id,
        run__agent__name=SYSTEM_SETTINGS,
        type__in=("halt.started", "halt.released"),
    ).order_by("run_id", "seq")
    last = 0
    columns = ("type", "payload", "actor", "at", "seq")
    for entry_type, payload, actor, at, last in entries.values_list(*columns):
        try:
            said = json.loads(payload)
            when = format_timestamp(at)
            _take(expected, entry_type, said, actor=actor, at=when, seq=last)
        except Exception as error:
            refuse_other(error)
            yield f"its {entry_type} fits no row: {describe(error)}", last
            return
    yield from _compare(project_id, expected, last=last)


def _take(
    expected: Expected,
    entry_type: str,
    payload: Mapping[str, Any],
    *,
    actor: str,
    at: str,
    seq: int,
) -> None:
    code, reason = payload["halt"], payload["reason"]
    if entry_type == "halt.started":
        began = {"scope": payload["scope"], "reason": reason, "by": actor, "at": at}
        expected[code] = ({**began, **_STANDING}, seq)
    else:
        ended = {"released_by": actor, "released_at": at, "release_reason": reason}
        expected[code] = ({**expected[code][0], **ended}, seq)


def _compare(
    project_id: int, expected: Expected, *, last: int
) -> Iterator[tuple[str, int]]:
    missing = dict(expected)
    rows = Halt.objects.select_related(*RELATED).filter(project_id=project_id)
    for row in rows.order_by("pk"):
        said, seq = missing.pop(str(row.code), (None, last))
        stored = _read_row(row)
        if said is None:
            yield f"the halt {row.code} is stored, and no entry tells of it", seq
        elif stored != said:
            names = ", ".join(name for name in said if said[name] != stored[name])
            yield f"the halt {row.code} differs from the chain in: {names}", seq
        elif row.released_at is None and row.deadlines_moved_at is not None:
            yield f"the halt {row.code} is settled, and was never released", seq
    for absent, (_, seq) in missing.items():
        yield f"the halt {absent} is missing", seq


def _read_row(row: Halt) -> dict[str, Any]:
    released_by = f"user:{row.released_by.code}" if row.released_by else None
    return {
        "scope": serialize_scope(row),
        "reason": row.reason,
        "by": f"user:{row.by.code}",
        "at": format_timestamp(row.at),
        "released_by": released_by,
        "released_at": format_timestamp(row.released_at) if row.released_at else None,
        "release_reason": row.release_reason,
    }
