"""Which rulings a list takes in, in which order, and its pages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet

from accounts.models import Agent, User
from common.ids import parse_code
from common.paging import build_parameter_error
from ledger.models import Run
from ledger.run_list.labels import filter_by_labels
from reviews.models import RulingFact
from reviews.past_rulings.outcomes import has_outcome

# By its name: the column, and whether the greatest comes first.
SORTS: dict[str, tuple[str, bool]] = {
    "newest": ("at", True),
    "oldest": ("at", False),
    "slowest": ("took_ms", True),
    "fastest": ("took_ms", False),
}
# In front of a cursor that leads back to the page before.
_BACK = "-"
_RELATED = (
    *("by", "agent", "run__outcome", "ruling__review__call__grant"),
    "ruling__review__project",
)
# Without the texts that no list shows: contents, memories and outputs may be long.
_COLUMNS = (
    *("ruling_id", "project_id", "at", "action", "kind", "severity", "rule", "rules"),
    *("took_ms", "read_ms", "regretted", "by__username", "by__code", "by__first_name"),
    *("by__last_name", "agent__name", "run__code", "run__status", "run__finished_at"),
    *("run__outcome__accepted", "ruling__note", "ruling__answer", "ruling__code"),
    *("ruling__review__code", "ruling__review__title", "ruling__review__opened_at"),
    *("ruling__review__project__slug", "ruling__review__call__ok"),
    *("ruling__review__call__grant__state", "ruling__review__call__grant__expires_at"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RulingSearch:
    """Of several names any may fit; `until` itself is not in it. `rules` may end in `*`.
    `without` is the key of a review whose ruling is left out."""

    project_id: int
    by: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    severities: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    alike_keys: tuple[str, ...] = ()
    without: int | None = None
    label: tuple[str, str] | None = None
    since: datetime | None = None
    until: datetime | None = None
    faster_than_ms: int | None = None
    regretted: bool | None = None
    outcomes: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RulingPage:
    """Some rulings in order, and the cursors of the pages beside it."""

    rows: list[RulingFact]
    next_cursor: str | None
    previous_cursor: str | None


def filter_rulings(search: RulingSearch) -> QuerySet[RulingFact]:
    """All that the search takes in, in no order."""
    found = RulingFact.objects.filter(project_id=search.project_id)
    if search.by:
        people = User.objects.filter(username__in=search.by)
        found = found.filter(_is_any("by_id", people.values_list("pk", flat=True)))
    if search.agents:
        agents = Agent.objects.filter(
            project_id=search.project_id, name__in=search.agents
        )
        found = found.filter(_is_any("agent_id", agents.values_list("pk", flat=True)))
    for column, names in (
        ("action", search.actions),
        ("kind", search.kinds),
        ("severity", search.severities),
        ("alike_key", search.alike_keys),
    ):
        if names:
            found = found.filter(_is_any(column, names))
    if search.without is not None:
        found = found.exclude(ruling__review_id=search.without)
    if search.rules:
        found = found.filter(_has_rule(search.rules))
    if search.since is not None:
        found = found.filter(at__gte=search.since)
    if search.until is not None:
        found = found.filter(at__lt=search.until)
    if search.faster_than_ms is not None:
        found = found.filter(is_read_under(search.faster_than_ms))
    if search.regretted is not None:
        found = found.filter(regretted=search.regretted)
    if search.outcomes:
        found = found.filter(has_outcome(search.outcomes))
    if search.label is not None:
        runs = Run.objects.filter(project_id=search.project_id)
        found = found.filter(run__in=filter_by_labels(runs, (search.label,), run=""))
    return found.filter(_has_text(search)) if search.text else found


def is_read_under(milliseconds: int) -> Q:
    """Where no screen told, nobody can have read for longer than it was open."""
    unknown = Q(read_ms=None, took_ms__lt=milliseconds)
    return Q(read_ms__lt=milliseconds) | unknown


def list_ruling_page(
    search: RulingSearch, *, sort: str = "newest", cursor: str | None, limit: int
) -> RulingPage:
    """By key, never by offset: a page stays what it was while others rule."""
    column, falling = SORTS[sort]
    found = filter_rulings(search)
    back = cursor is not None and cursor.startswith(_BACK)
    if cursor is not None:
        last = _find_position(search, cursor.removeprefix(_BACK), column)
        found = found.filter(_is_beyond(column, last, falling=falling != back))
    sign = "-" if falling != back else ""
    ordered = found.order_by(f"{sign}{column}", f"{sign}id")
    keys = list(ordered.values_list("pk", flat=True)[: limit + 1])
    more, keys = len(keys) > limit, keys[:limit]
    if back:
        keys.reverse()
    rows = _load_rows(keys)
    ahead, behind = (cursor is not None, more) if back else (more, cursor is not None)
    return RulingPage(
        rows=rows,
        next_cursor=str(rows[-1].ruling_id) if rows and ahead else None,
        previous_cursor=f"{_BACK}{rows[0].ruling_id}" if rows and behind else None,
    )


def _load_rows(keys: list[int]) -> list[RulingFact]:
    """With all that a row shows. By key, when it is known which ones: with what belongs to
    them in the same query the database would join all before it looks for a few."""
    facts = RulingFact.objects.select_related(*_RELATED).only(*_COLUMNS).in_bulk(keys)
    return [facts[key] for key in keys]


def _is_any(column: str, values: Iterable[Any]) -> Q:
    """One value by itself: the database then reads its index in order."""
    wanted = list(values)
    if len(wanted) == 1:
        return Q(**{column: wanted[0]})
    return Q(**{f"{column}__in": wanted})


def _has_rule(names: Iterable[str]) -> Q:
    wanted = Q()
    for name in names:
        ending = "" if name.endswith("*") else "\n"
        wanted |= Q(rules__contains=f"\n{name.removesuffix('*')}{ending}")
    return wanted


def _has_text(search: RulingSearch) -> Q:
    """In the rows alone: to look through the texts of reviews takes ten times as long."""
    agents = Agent.objects.filter(
        project_id=search.project_id, name__icontains=search.text
    )
    wanted = Q(text__contains=search.text.lower())
    if found := list(agents.values_list("pk", flat=True)):
        wanted |= Q(agent_id__in=found)
    code = parse_code(search.text)
    if code is None:
        return wanted
    runs = Run.objects.filter(project_id=search.project_id, code=code)
    return wanted | Q(run__in=runs)


def _find_position(search: RulingSearch, cursor: str, column: str) -> tuple[Any, int]:
    code = parse_code(cursor)
    if code is not None:
        rows = RulingFact.objects.filter(
            project_id=search.project_id, ruling__code=code
        )
        for value, key in rows.values_list(column, "pk"):
            return value, key
    raise build_parameter_error("cursor", "not a cursor that this list gave out")


def _is_beyond(column: str, last: tuple[Any, int], *, falling: bool) -> Q:
    """The first condition alone lets the database begin at the right place."""
    value, key = last
    side = "lt" if falling else "gt"
    return Q(**{f"{column}__{side}e": value}) & (
        Q(**{f"{column}__{side}": value}) | Q(**{column: value, f"pk__{side}": key})
    )
