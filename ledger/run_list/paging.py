"""Pages of runs in any order, both ways, by key and never by offset.

By a figure, or within bounds of one, runs that are over come from an index of `RunEnd`, the
few others from their own rows, and both are merged: every figure is as it is at this moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F, Q, QuerySet

from common.ids import parse_code
from ledger.models import FINAL, Run
from ledger.run_list.figures import FIGURES, FigureColumns
from ledger.run_list.filter import RunFilter
from ledger.run_list.matching import (
    OPEN,
    filter_ends,
    filter_open_runs,
    filter_runs,
)
from ledger.run_list.scope import Scope

SORTS = ("started", *FIGURES)
_LIMIT = 2**63 - 1
_BEGINNING = FigureColumns(of_run="created_at", of_end="created_at")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sort:
    key: str = "started"
    descending: bool = True

    def __str__(self) -> str:
        return f"-{self.key}" if self.descending else self.key


NEWEST_FIRST = Sort()
Value = datetime | int


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """A place in a list: behind a run, or before it."""

    backwards: bool
    value: Value
    run_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The runs, and the cursors that lead on; none where nothing follows."""

    runs: list[Run]
    next_cursor: str | None
    previous_cursor: str | None


def parse_sort(text: str) -> Sort | None:
    key = text.removeprefix("-")
    return Sort(key=key, descending=text != key) if key in SORTS else None


def parse_cursor(text: str, *, scope: Scope, sort: Sort) -> Position | None:
    """As `list_page` gave it out for this order; None for anything else.

    The run may have left the filter since, and its figures may have changed: its place
    then is where it was.
    """
    way, _, rest = text.partition(".")
    shown, _, figure = rest.partition(".")
    code = parse_code(shown)
    if way not in ("after", "before") or code is None:
        return None
    found = scope.filter_rows(Run.objects.filter(code=code))
    row = found.values_list("pk", "created_at").first()
    if row is None:
        return None
    run_id = row[0]
    value: Value = row[1]
    if sort.key != "started":
        if not (figure.isascii() and figure.isdigit() and len(figure) < 20):
            return None
        value = min(int(figure), _LIMIT)
    elif figure:
        return None
    return Position(backwards=way == "before", value=value, run_id=run_id)


def list_page(
    *,
    scope: Scope,
    wanted: RunFilter,
    sort: Sort = NEWEST_FIRST,
    position: Position | None = None,
    limit: int,
    related: Sequence[str],
) -> Page:
    backwards = position is not None and position.backwards
    descending = sort.descending != backwards
    plain = sort.key == "started" and not wanted.bounds
    listed = _list_by_beginning if plain else _list_by_end
    places = listed(scope, wanted, sort.key, descending, position, limit + 1)
    more = len(places) > limit
    places = places[:limit]
    if backwards:
        places.reverse()
    rows = Run.objects.filter(pk__in=[run_id for _, run_id in places])
    by_id = {run.pk: run for run in rows.select_related(*related).defer("memory")}
    runs = [by_id[run_id] for _, run_id in places]
    leads_on = bool(runs) and (more or backwards)
    leads_back = bool(runs) and (more if backwards else position is not None)
    return Page(
        runs=runs,
        next_cursor=_format_cursor("after", places[-1], runs[-1]) if leads_on else None,
        previous_cursor=(
            _format_cursor("before", places[0], runs[0]) if leads_back else None
        ),
    )


def _format_cursor(way: str, place: tuple[Value, int], run: Run) -> str:
    value, _ = place
    figure = "" if isinstance(value, datetime) else f".{value}"
    return f"{way}.{run.code}{figure}"


def _list_by_beginning(
    scope: Scope,
    wanted: RunFilter,
    _key: str,
    descending: bool,
    position: Position | None,
    limit: int,
) -> list[tuple[Value, int]]:
    runs = filter_runs(scope, wanted)
    runs = _sort_rows(runs, "created_at", "pk", descending, position)
    return list(runs.values_list("created_at", "pk")[:limit])


def _list_by_end(
    scope: Scope,
    wanted: RunFilter,
    key: str,
    descending: bool,
    position: Position | None,
    limit: int,
) -> list[tuple[Value, int]]:
    columns = FIGURES.get(key, _BEGINNING)
    values: dict[int, Value] = {}
    statuses = set(wanted.statuses)
    # Open ones first: a run that ends in between is in both then, and not in neither.
    if not statuses or statuses & set(OPEN):
        runs = filter_open_runs(scope, wanted)
        runs = _sort_rows(runs, columns.of_run, "pk", descending, position)
        values.update(runs.values_list("pk", columns.of_run)[:limit])
    if not statuses or statuses & FINAL:
        ends = filter_ends(scope, wanted)
        ends = _sort_rows(ends, columns.of_end, "run_id", descending, position)
        values.update(ends.values_list("run_id", columns.of_end)[:limit])
    places = [(value, run_id) for run_id, value in values.items()]
    return sorted(places, reverse=descending)[:limit]


def _sort_rows(
    rows: QuerySet[Any],
    column: str,
    key: str,
    descending: bool,
    position: Position | None,
) -> QuerySet[Any]:
    if position is not None:
        way = "lt" if descending else "gt"
        # The first condition is what an index can begin at.
        rows = rows.filter(**{f"{column}__{way}e": position.value}).filter(
            Q(**{f"{column}__{way}": position.value})
            | Q(**{f"{key}__{way}": position.run_id})
        )
    if descending:
        return rows.order_by(F(column).desc(), F(key).desc())
    return rows.order_by(column, key)
