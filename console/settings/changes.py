"""Who changed what in a project: the chain of its administration, in words."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from accounts.models import SYSTEM_SETTINGS, User
from console.format import format_iso
from console.people import Person, build_person
from console.runs.sentences.administration import Change, describe_change
from ledger.models import Entry, Run
from reviews.transitions import ADMINISTRATION

PAGE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRow:
    """`by` is None where a command of the server did it."""

    position: int
    by: Person | None
    change: Change
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePage:
    """`older` is the position before which more follow, 0 where none do."""

    run: Run | None
    rows: list[ChangeRow]
    older: int


def list_changes(
    *, project_id: int, before: int | None = None, limit: int = PAGE
) -> ChangePage:
    """The newest changes, or those before a position in the project's ledger.

    The chain may go over several runs, each begun after the end of the one before: by run
    and number they stand in the order of their positions, and an index has that order.
    """
    runs = Run.objects.filter(
        agent__project_id=project_id, agent__name=SYSTEM_SETTINGS
    ).order_by("-pk")
    entries = Entry.objects.filter(
        run_id__in=list(runs.values_list("pk", flat=True)), type__in=ADMINISTRATION
    ).order_by("-run_id", "-seq")
    if before is not None:
        entries = entries.filter(position__lt=before)
    found = list(entries[: limit + 1])
    shown = found[:limit]
    people = _load_people(shown)
    rows = []
    for entry in shown:
        change = describe_change(entry.type, json.loads(entry.payload))
        if change is not None:
            rows.append(_build_row(entry, change, people))
    older = shown[-1].position if len(found) > limit else 0
    return ChangePage(run=runs.first(), rows=rows, older=older)


def _build_row(entry: Entry, change: Change, people: dict[str, Person]) -> ChangeRow:
    return ChangeRow(
        position=entry.position,
        by=people.get(entry.actor),
        change=change,
        at=format_iso(entry.at),
    )


def _load_people(entries: Iterable[Entry]) -> dict[str, Person]:
    """By the actor that their entries name: one query for all."""
    actors = {entry.actor for entry in entries}
    codes = [UUID(each[5:]) for each in actors if each.startswith("user:")]
    users = User.objects.filter(code__in=codes) if codes else []
    return {f"user:{user.code}": build_person(user) for user in users}
