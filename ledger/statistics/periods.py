"""Periods of whole hours in UTC, and where their figures stand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple

from django.db.models import Q

from ledger.models import Interval

SeriesInterval = Literal["hour", "day", "week"]
_HOUR = timedelta(hours=1)


class Span(NamedTuple):
    """From `since` up to and without `until`, in rows of one interval."""

    interval: Interval
    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Which figures are meant: a period, and perhaps only some runs.

    The period is widened to whole hours: `since` to the hour that it lies in, `until` to
    the end of its hour. `agent` is a name, `policy` such as `default@3`, `label` a name
    and a value.
    """

    project_id: int
    since: datetime
    until: datetime
    agent: str | None = None
    model: str | None = None
    intent: str | None = None
    policy: str | None = None
    label: tuple[str, str] | None = None

    @property
    def begin(self) -> datetime:
        return round_to_hour(self.since)

    @property
    def end(self) -> datetime:
        whole = round_to_hour(self.until)
        return whole if whole == self.until else whole + _HOUR

    def build_filter(self, *, by_hour: bool = False, label_name: str = "") -> Q:
        """Rows of the whole period; whole days are read as such unless `by_hour`."""
        spans = (
            [Span(Interval.HOUR, self.begin, self.end)]
            if by_hour
            else list_spans(self.begin, self.end)
        )
        within = Q(pk__in=())
        for span in spans:
            within |= Q(
                interval=span.interval.value, at__gte=span.since, at__lt=span.until
            )
        chosen = Q(project_id=self.project_id) & within
        name, value = self.label or (label_name, None)
        chosen &= Q(label_name=name)
        if value is not None:
            chosen &= Q(label_value=value)
        for field, wanted in (
            ("agent__name", self.agent),
            ("model", self.model),
            ("intent", self.intent),
            ("policy", self.policy),
        ):
            if wanted is not None:
                chosen &= Q(**{field: wanted})
        return chosen


def round_to_hour(at: datetime) -> datetime:
    """Down to its beginning, as with the others."""
    return at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def round_to_day(at: datetime) -> datetime:
    return round_to_hour(at).replace(hour=0)


def round_to(at: datetime, interval: SeriesInterval) -> datetime:
    """Weeks begin on Mondays."""
    if interval == "hour":
        return round_to_hour(at)
    day = round_to_day(at)
    return day if interval == "day" else day - timedelta(days=day.weekday())


def list_spans(begin: datetime, end: datetime) -> list[Span]:
    """Whole days from the rows of days, what is left of the first and last from hours."""
    first = round_to_day(begin)
    first = first if first == begin else first + timedelta(days=1)
    last = round_to_day(end)
    if first >= last:
        return [Span(Interval.HOUR, begin, end)] if begin < end else []
    spans = [
        Span(Interval.HOUR, begin, first),
        Span(Interval.DAY, first, last),
        Span(Interval.HOUR, last, end),
    ]
    return [span for span in spans if span.since < span.until]


def list_points(
    begin: datetime, end: datetime, interval: SeriesInterval
) -> Iterator[datetime]:
    """The beginning of each hour, day or week of a period."""
    length = {"hour": _HOUR, "day": timedelta(days=1), "week": timedelta(days=7)}
    at = round_to(begin, interval)
    while at < end:
        yield at
        at += length[interval]
