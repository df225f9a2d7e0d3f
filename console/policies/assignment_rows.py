"""Assignments as the rows of a form, in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, get_args

from django.http import QueryDict
from django.urls import reverse
from pydantic import TypeAdapter, ValidationError

from common.errors import Invalid
from console.format import format_count
from guidance.core.policy.assignments import Assignment, Match
from reviews.policies.assignments import list_taken_runs, refuse_wrong
from reviews.policies.schemas import AssignmentIn
from reviews.schemas.fields import Intent
from safetext import make_visible_line

INTENTS: tuple[str, ...] = get_args(Intent)
# What a row names, in the order of its columns.
NAMES = (*(each.name for each in fields(Match)), "policy")
_ROWS: TypeAdapter[list[AssignmentIn]] = TypeAdapter(list[AssignmentIn])


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """Which runs of the last week a row would have taken; a few of them by address."""

    count: str
    examples: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What was typed, what is wrong with it by column, and whom it would have taken."""

    values: Mapping[str, str]
    errors: Mapping[str, str] = field(default_factory=dict)
    taken: Taken | None = None

    @property
    def cells(self) -> list[tuple[str, str, str]]:
        """Name, text and error of each column but the policy's."""
        return [
            (name, self.values.get(name, ""), self.errors.get(name, ""))
            for name in NAMES[:-1]
        ]

    @property
    def empty(self) -> bool:
        return not any(self.values.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRows:
    """`assignments` is None where something is wrong. `rest` are runs that none takes."""

    rows: tuple[Row, ...]
    assignments: Sequence[Assignment] | None
    rest: str = ""


def list_stored_rows(assignments: Iterable[Assignment]) -> list[Row]:
    return [
        Row(values={**each.match.to_json(), "policy": each.policy})
        for each in assignments
    ]


def read_rows(posted: QueryDict) -> list[Row]:
    """As they were typed, after what a button does: move one, remove one."""
    columns = [posted.getlist(name) for name in NAMES]
    rows = [
        Row(
            values={name: text.strip() for name, text in zip(NAMES, texts, strict=True)}
        )
        for texts in zip(*columns, strict=False)
    ]
    does, _, number = posted.get("do", "").partition(":")
    place = int(number) if number.isascii() and number.isdigit() else len(rows)
    if place < len(rows):
        row = rows.pop(place)
        if does != "remove":
            rows.insert(max(place + {"up": -1, "down": 1}.get(does, 0), 0), row)
    return [row for row in rows if not row.empty]


def check_rows(project_id: int, slug: str, rows: Sequence[Row]) -> CheckedRows:
    """Everything that is wrong, or the runs that each row would have taken."""
    given = [
        {
            "match": {n: v for n, v in row.values.items() if v and n != "policy"},
            "policy": row.values.get("policy", ""),
        }
        for row in rows
    ]
    try:
        read = _ROWS.validate_python(given)
        assignments = [
            Assignment(match=Match(**each.match.model_dump()), policy=each.policy)
            for each in read
        ]
        refuse_wrong(project_id, assignments)
    except ValidationError as error:
        said = [
            (each["loc"], "choose one" if each["loc"][-1] == "policy" else each["msg"])
            for each in error.errors()
        ]
        return _place_errors(rows, said)
    except Invalid as refusal:
        said = [(tuple(e["loc"]), e["message"]) for e in refusal.errors]
        return _place_errors(rows, said)
    taken, rest = list_taken_runs(project_id, assignments)
    return CheckedRows(
        rows=tuple(
            Row(values=row.values, taken=_build_taken(week, slug))
            for row, week in zip(rows, taken, strict=True)
        ),
        assignments=assignments,
        rest=format_count(rest, "run"),
    )


def _place_errors(
    rows: Sequence[Row], said: Iterable[tuple[tuple[Any, ...], str]]
) -> CheckedRows:
    """At the column that an error names, at the first one where it names none."""
    errors: dict[int, dict[str, str]] = {}
    for loc, message in said:
        place = loc[0] if loc else 0
        name = loc[-1] if loc and loc[-1] in NAMES else NAMES[0]
        errors.setdefault(place, {}).setdefault(name, message)
    return CheckedRows(
        rows=tuple(
            Row(values=row.values, errors=errors.get(place, {}))
            for place, row in enumerate(rows)
        ),
        assignments=None,
    )


def _build_taken(week: Mapping[str, Any], slug: str) -> Taken:
    return Taken(
        count=format_count(week["runs"], "run"),
        examples=tuple(
            (
                reverse("console:run", args=[slug, run["id"]]),
                make_visible_line(run["task"]),
                make_visible_line(run["agent"]),
            )
            for run in week["examples"]
        ),
    )
