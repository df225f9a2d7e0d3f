"""Stored runs and their entries, a page at a time, the newest runs first."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db.models import QuerySet

from ledger.models import Entry, Run
from ledger.verification.unreadable import refuse_other

# So many entries are in memory at once, each with at most the largest body that is taken.
PAGE = 250
_COLUMNS = ("run_id", "seq", "at", "type", "actor", "payload")
_RUN_COLUMNS = (
    *("pk", "code", "project_id", "agent_id", "policy_id", "status", "status_reason"),
    *("model", "head_seq", "head_hash", "updated_at"),
)


class StoredEntry(NamedTuple):
    """`payload` is None where the row cannot be read."""

    run_id: int
    seq: int
    at: datetime
    type: str
    actor: str
    payload: str | None


def select_runs(
    runs: QuerySet[Run], *, since: datetime | None, until: datetime | None
) -> QuerySet[Run]:
    """Those that may have decisions in this time."""
    if since is not None:
        runs = runs.filter(updated_at__gte=since)
    if until is not None:
        runs = runs.filter(created_at__lte=until)
    return runs


def list_run_batches(runs: QuerySet[Run]) -> Iterator[list[Run]]:
    """Runs whose entries fit into one page together, or one that is longer."""
    batch: list[Run] = []
    entries, last = 0, None
    while True:
        page = runs if last is None else runs.filter(pk__lt=last)
        found = list(page.only(*_RUN_COLUMNS).order_by("-pk")[:500])
        for run in found:
            if batch and entries + run.head_seq > PAGE:
                yield batch
                batch, entries = [], 0
            batch.append(run)
            entries += run.head_seq
        if not found:
            break
        last = found[-1].pk
    if batch:
        yield batch


def list_entry_pages(
    batch: Sequence[Run],
    *,
    until: datetime | None,
    types: Collection[str] | None = None,
) -> Iterator[dict[int, list[StoredEntry]]]:
    """The entries of these runs by run, each in order; of these types, or of all."""
    entries = Entry.objects.filter(run_id__in=[run.pk for run in batch])
    if types is not None:
        entries = entries.filter(type__in=types)
    if until is not None:
        entries = entries.filter(at__lte=until)
    if len(batch) > 1:
        yield _group_by_run(read_stored_entries(entries.order_by("run_id", "seq")))
        return
    last = 0
    following = entries.order_by("seq")
    while page := read_stored_entries(following.filter(seq__gt=last)[:PAGE]):
        yield _group_by_run(page)
        last = page[-1].seq


def read_stored_entries(entries: QuerySet[Entry]) -> list[StoredEntry]:
    """Where one of them cannot be read, the others still are."""
    try:
        return [StoredEntry(*row) for row in entries.values_list(*_COLUMNS)]
    except Exception as error:
        refuse_other(error)
    return [
        StoredEntry(run_id, seq, at, entry_type, actor, _read_payload(pk))
        for pk, run_id, seq, at, entry_type, actor in entries.values_list(
            "pk", "run_id", "seq", "at", "type", "actor"
        )
    ]


def _read_payload(pk: int) -> str | None:
    try:
        return Entry.objects.values_list("payload", flat=True).get(pk=pk)
    except Exception as error:
        refuse_other(error)
        return None


def _group_by_run(rows: Iterable[StoredEntry]) -> dict[int, list[StoredEntry]]:
    grouped: dict[int, list[StoredEntry]] = {}
    for row in rows:
        grouped.setdefault(row.run_id, []).append(row)
    return grouped
