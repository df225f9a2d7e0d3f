"""The list of decisions by day, and a chart of how many each recent day had."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import groupby

from django.db.models import Count
from django.db.models.functions import TruncDate
from django.urls import reverse
from django.utils.safestring import SafeString

from common.ids import parse_code
from console.charts import draw_stacked_bar
from console.format import ShownMoment, build_past_moment, format_count
from console.loop.filters import Filters
from console.loop.vocabulary import (
    DECIDERS,
    OUTCOMES,
    REPORTED,
    SOURCES,
    Look,
    describe_action,
)
from loop.models import Decision
from safetext import make_visible_line

PAGE = 50
DAYS = 14
# From the bottom of a bar to its top.
TONES = ("go", "pause", "slow", "stop", "mute")
LEGEND = (
    ("go", "emitted"),
    ("pause", "waiting for approval"),
    ("slow", "held back"),
    ("stop", "denied or invalid"),
    ("mute", "nothing done"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionRow:
    code: str
    url: str
    what: str
    outcome: Look
    reasoning: str
    trigger: str
    source: str
    reported: Look | None
    when: ShownMoment


@dataclass(frozen=True, slots=True, kw_only=True)
class DayRows:
    name: str
    rows: list[DecisionRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class DayBar:
    """`query` shows only that day, or all days again."""

    name: str
    number: str
    count: int
    label: str
    bar: SafeString
    query: str
    chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionList:
    days: list[DayRows]
    older: str


def list_decisions(
    project_id: int, filters: Filters, *, before: str, slug: str, at: datetime
) -> DecisionList:
    """The newest decisions, or those before the one that is named."""
    decisions = Decision.objects.filter(project_id=project_id, **filters.lookups)
    last = _find_cursor_id(project_id, before)
    if last is not None:
        decisions = decisions.filter(pk__lt=last)
    found = list(decisions.only(*_SHOWN).order_by("-pk")[: PAGE + 1])
    older = str(found[PAGE - 1].code) if len(found) > PAGE else ""
    rows = groupby(found[:PAGE], key=lambda row: _get_day(row.decided_at))
    return DecisionList(
        days=[
            DayRows(
                name=_format_day(day, at=at),
                rows=[build_decision_row(row, slug=slug, at=at) for row in together],
            )
            for day, together in rows
        ],
        older=filters.build_query(before=older) if older else "",
    )


def _find_cursor_id(project_id: int, code: str) -> int | None:
    known = parse_code(code)
    if known is None:
        return None
    named = Decision.objects.filter(project_id=project_id, code=known)
    return named.values_list("pk", flat=True).first()


_SHOWN = (
    *("code", "action", "kind", "outcome", "reasoning", "trigger_type"),
    *("trigger_source", "decider", "reported", "decided_at"),
)


def build_decision_row(decision: Decision, *, slug: str, at: datetime) -> DecisionRow:
    return DecisionRow(
        code=str(decision.code),
        url=reverse("console:loop-decision", args=[slug, decision.code]),
        what=describe_action(decision.action, decision.kind),
        outcome=OUTCOMES[decision.outcome],
        reasoning=make_visible_line(decision.reasoning),
        trigger=make_visible_line(decision.trigger_type),
        source=_describe_source(decision),
        reported=REPORTED.get(decision.reported),
        when=build_past_moment(decision.decided_at, at),
    )


def _describe_source(decision: Decision) -> str:
    """Where the trigger came from, and who decided where that was not the rules."""
    source = SOURCES[decision.trigger_source]
    if decision.decider == "rules":
        return source
    return f"{source} · {DECIDERS[decision.decider].lower()}"


def list_day_bars(project_id: int, filters: Filters, *, at: datetime) -> list[DayBar]:
    """One query for all days; counts every outcome, whatever the outcome filter."""
    today = _get_day(at)
    first = today - timedelta(days=DAYS - 1)
    start = datetime(first.year, first.month, first.day, tzinfo=UTC)
    counts: dict[date, Counter[str]] = defaultdict(Counter)
    grouped = (
        Decision.objects.filter(project_id=project_id, decided_at__gte=start)
        .annotate(day=TruncDate("decided_at", tzinfo=UTC))
        .values_list("day", "outcome")
        .annotate(count=Count("pk"))
    )
    for day, outcome, count in grouped:
        counts[day][OUTCOMES[outcome].tone or "mute"] += count
    top = max((counter.total() for counter in counts.values()), default=0)
    days = (first + timedelta(days=number) for number in range(DAYS))
    return [_build_bar(day, counts[day], filters, top=top, at=at) for day in days]


def _build_bar(
    day: date, counts: Counter[str], filters: Filters, *, top: int, at: datetime
) -> DayBar:
    chosen = filters.day == day
    name, count = _format_day(day, at=at), counts.total()
    decided = format_count(count, "decision")
    return DayBar(
        name=name,
        number=str(day.day),
        count=count,
        label=f"{name}: {decided}, {counts['go']} emitted",
        bar=draw_stacked_bar([(tone, counts[tone]) for tone in TONES], top=top),
        query=filters.build_query(day="" if chosen else day.isoformat()),
        chosen=chosen,
    )


def _get_day(moment: datetime) -> date:
    return moment.astimezone(UTC).date()


def _format_day(day: date, *, at: datetime) -> str:
    past_days = (_get_day(at) - day).days
    if past_days in (0, 1):
        return ("Today", "Yesterday")[past_days]
    year = "" if day.year == at.year else f" {day.year}"
    return f"{day:%a} {day.day} {day:%b}{year}"


def build_legend(bars: Iterable[DayBar]) -> tuple[tuple[str, str], ...]:
    """None where there is nothing to explain."""
    return LEGEND if any(bar.count for bar in bars) else ()
