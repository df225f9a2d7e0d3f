"""What the project spends this month, against its limit and the month before."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import ceil

from django.utils.safestring import SafeString

from console.charts.bars import draw_share
from console.charts.lines import Limit, Line, draw_lines, find_x
from console.charts.plot import Mark, Plot, Tick
from console.charts.scale import build_scale
from console.format import format_money
from console.overview.links import Links
from console.overview.needs.limits import UsedLimit
from console.overview.period import format_day
from ledger.models import SharedUse

# The pace is that of so many days: a week has all its days in it.
PACE_DAYS = 7
HEIGHT = 158
LIMITS_SHOWN = 4
_DOLLAR = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitRow:
    name: str
    used: str
    limit: str
    over: bool
    bar: SafeString
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendCard:
    """`burn` is of the days that `burn_of` names. `limit` is empty where the month has
    none, `warning` where the pace keeps within it; `plot` is None where nothing was spent."""

    spent: str
    limit: str
    burn: str
    burn_of: str
    warning: str
    plot: Plot | None
    rows: tuple[LimitRow, ...]
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    """What was spent on each day, in dollars, up to today; `passed` is how much of the
    month is over, in days."""

    name: str
    days: Sequence[float]
    length: int
    passed: float

    @property
    def sums(self) -> list[float]:
        """At the end of each day, after the nought that the month begins with."""
        found = [0.0]
        for each in self.days:
            found.append(found[-1] + each)
        return found

    @property
    def total(self) -> float:
        return sum(self.days)


def build_spend_card(
    *, project_id: int, at: datetime, limits: Sequence[UsedLimit], links: Links
) -> SpendCard:
    at = at.astimezone(UTC)
    spent = _read_days(project_id, at)
    month, before = _build_month(spent, at), _build_month_before(spent, at)
    limit = next(
        (
            each.limit / _DOLLAR
            for each in limits
            if each.span == "this month" and each.part == "cost_micros"
        ),
        None,
    )
    pace, days = compute_pace(spent, at)
    reached = find_day_reached(month, limit=limit, pace=pace)
    return SpendCard(
        spent=_format(month.total),
        limit="" if limit is None else _format(limit),
        burn=format_money(round(pace / 24 * _DOLLAR)),
        burn_of="today" if days == 1 else f"over the last {days} days",
        warning=_describe_reached(month, limit, reached, at),
        plot=(
            _draw(month, before, limit, pace, reached, links, at)
            if month.total or before.total
            else None
        ),
        rows=_build_rows(_choose(limits), links),
        href=links.list_runs(since=f"{at:%Y-%m}-01", sort="-cost"),
    )


def compute_pace(spent: dict[str, float], at: datetime) -> tuple[float, int]:
    """Dollars a day, and of how many last days: of fewer where nothing was spent before."""
    days = [at - timedelta(days=back) for back in range(PACE_DAYS)]
    amounts = [spent.get(f"{day:%Y-%m-%d}", 0.0) for day in days]
    while len(amounts) > 1 and not amounts[-1]:
        amounts.pop()
    return sum(amounts) / (len(amounts) - 1 + _measure_day(at)), len(amounts)


def find_day_reached(month: Month, *, limit: float | None, pace: float) -> float | None:
    """How many days after its beginning the month's limit is reached; None if it is not."""
    if limit is None:
        return None
    if month.total >= limit:
        return month.passed
    reached = month.passed + (limit - month.total) / pace if pace else month.length + 1
    return reached if reached <= month.length else None


def _describe_reached(
    month: Month, limit: float | None, reached: float | None, at: datetime
) -> str:
    if limit is None or reached is None:
        return ""
    if month.total >= limit:
        return "Limit reached"
    day = at.replace(day=min(ceil(reached), month.length))
    return f"Limit reached {format_day(day)} at this rate"


def _draw(
    month: Month,
    before: Month,
    limit: float | None,
    pace: float,
    reached: float | None,
    links: Links,
    at: datetime,
) -> Plot:
    end = month.total + pace * (month.length - month.passed)
    scale = build_scale(
        max(limit or 0, end, before.total) * 1.02, height=HEIGHT, whole=False
    )
    places = month.length + 1
    now = len(month.sums) - 1
    ahead = [None] * now + [
        month.total + (end - month.total) * part / max(places - 1 - now, 1)
        for part in range(places - now)
    ]
    earlier = (before.sums + [before.sums[-1]] * places)[:places]
    lines = [
        Line(tone="prev", values=earlier, label=before.name if before.total else ""),
        Line(
            tone="accent",
            values=month.sums + [None] * (places - now - 1),
            filled=True,
            dotted=True,
            label=_format(month.total),
            label_tone="t-accent",
        ),
        Line(tone="proj", values=ahead),
    ]
    rows = [
        (format_day(at.replace(day=day)), _format(amount), _format(month.sums[day]))
        for day, amount in enumerate(month.days, start=1)
    ]
    marks: list[Mark | None] = [None]
    for day, (name, amount, total) in enumerate(rows, start=1):
        date = f"{at:%Y-%m}-{day:02d}"
        href = links.list_runs(since=date, until=date, sort="-cost")
        marks.append(Mark(title=f"{name}: {amount}, {total} this month", href=href))
    return Plot(
        steps=tuple(_format_step(each) for each in scale.steps),
        drawing=draw_lines(
            lines,
            scale=scale,
            about="Spend this month by day, as a sum",
            ticks=_list_ticks(month, now, at),
            marks=marks,
            limit=None
            if limit is None
            else Limit(value=limit, label=f"limit {_format(limit)}", reached=reached),
        ),
        columns=("Day", "Spent", "This month"),
        rows=tuple(rows),
    )


def _list_ticks(month: Month, now: int, at: datetime) -> list[Tick]:
    today = find_x(now, month.length + 1)
    ticks = [Tick(x=today, text="today")]
    if today > 12:
        ticks.insert(0, Tick(x=0, text=format_day(at.replace(day=1))))
    if today < 92:
        ticks.append(Tick(x=100, text=f"{month.length}"))
    return ticks


def _choose(limits: Sequence[UsedLimit]) -> list[UsedLimit]:
    """Those of a day in money; the project's first, then the fullest."""
    daily = [
        each for each in limits if each.span == "today" and each.part == "cost_micros"
    ]
    return sorted(daily, key=lambda each: (bool(each.agent), -each.share))[
        :LIMITS_SHOWN
    ]


def _build_rows(limits: Sequence[UsedLimit], links: Links) -> tuple[LimitRow, ...]:
    """Where several policies limit the same, each row says which one does."""
    owners = [limit.agent for limit in limits]
    return tuple(
        _build_row(each, links, named=owners.count(each.agent) > 1) for each in limits
    )


def _build_row(limit: UsedLimit, links: Links, *, named: bool) -> LimitRow:
    name = f"{limit.owner}, {limit.span}"
    return LimitRow(
        name=f"{name}, {limit.policy}" if named else name,
        used=limit.used_text,
        limit=limit.limit_text,
        over=limit.is_reached,
        bar=draw_share(
            limit.share, height=4, tone="stop" if limit.is_reached else "mid"
        ),
        href=links.list_runs(agent=limit.agent, since="today", sort="-cost"),
    )


def _read_days(project_id: int, at: datetime) -> dict[str, float]:
    """Of this month and the one before, as the writer counts them with each commit."""
    earlier = f"{at.replace(day=1) - timedelta(days=1):%Y-%m}"
    rows = SharedUse.objects.filter(
        scope="project",
        owner=project_id,
        period__gte=earlier,
        period__lte=f"{at:%Y-%m-%d}",
    ).values_list("period", "cost_micros")
    return {day: cost / _DOLLAR for day, cost in rows if len(day) == len("2026-11-17")}


def _build_month(spent: dict[str, float], at: datetime) -> Month:
    return Month(
        name=f"{at:%B}",
        days=[spent.get(f"{at:%Y-%m}-{day:02d}", 0.0) for day in range(1, at.day + 1)],
        length=monthrange(at.year, at.month)[1],
        passed=at.day - 1 + _measure_day(at),
    )


def _build_month_before(spent: dict[str, float], at: datetime) -> Month:
    last = at.replace(day=1, hour=23, minute=59) - timedelta(days=1)
    return _build_month(spent, last)


def _measure_day(at: datetime) -> float:
    """How much of the day is over; at its beginning a little, so that nothing divides by 0."""
    seconds = at.hour * 3600 + at.minute * 60 + at.second
    return max(seconds / 86_400, 0.04)


def _format(dollars: float) -> str:
    """Whole dollars where there are many of them."""
    if dollars >= 100:
        return f"${dollars:,.0f}"
    return format_money(round(dollars * _DOLLAR))


def _format_step(dollars: float) -> str:
    if not dollars:
        return "0"
    if dollars >= 1_000:
        return f"${dollars / 1000:g}k"
    return f"${dollars:g}"
