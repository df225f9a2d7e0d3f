"""The time that the page is about, and the one before it that it is compared with.

Days are UTC days, as limits count them. Today is not over yet: the period before ends at
the same time of its last day, so that both are equally long; where figures are those of
whole hours, its last hour counts by as much as has passed of this one.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property

_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)
# What stands in the address, what it is called, and how many buckets of which size.
PERIODS: dict[str, tuple[str, timedelta, int]] = {
    "24h": ("24 h", _HOUR, 24),
    "7d": ("7 d", _DAY, 7),
    "30d": ("30 d", _DAY, 30),
    "90d": ("90 d", _DAY, 90),
}
USUAL = "30d"


@dataclass(frozen=True)
class Period:
    """`size` is that of a bucket, an hour or a day, the last of which is not over yet."""

    name: str
    since: datetime
    until: datetime
    size: timedelta
    count: int

    @property
    def length(self) -> timedelta:
        return self.size * self.count

    @property
    def is_hourly(self) -> bool:
        return self.size == _HOUR

    @property
    def before(self) -> Period:
        return Period(
            self.name,
            self.since - self.length,
            self.until - self.length,
            self.size,
            self.count,
        )

    @cached_property
    def buckets(self) -> list[datetime]:
        """When each of them begins."""
        return [self.since + self.size * place for place in range(self.count)]

    def find_bucket(self, at: datetime) -> int | None:
        """The place of a moment; None outside of the period."""
        place = (at - self.since) // self.size
        return place if 0 <= place < self.count else None

    def name_bucket(self, place: int) -> str:
        begin = self.buckets[place]
        return f"{begin:%H}:00" if self.is_hourly else format_day(begin)

    @property
    def words(self) -> str:
        """Such as "19 Oct – 17 Nov"."""
        if self.is_hourly:
            return f"since {format_day(self.since)}, {self.since:%H:%M} UTC"
        return f"{format_day(self.since)} – {format_day(self.until)}"

    @property
    def against(self) -> str:
        """What it is compared with: "the 30 days before"."""
        return f"the {self.count} {'hours' if self.is_hourly else 'days'} before"


def read_period(name: str, at: datetime) -> Period:
    """The usual one where the address names none that there is."""
    name = name if name in PERIODS else USUAL
    _, size, count = PERIODS[name]
    begin = at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    if size == _DAY:
        begin = begin.replace(hour=0)
    return Period(name, begin - size * (count - 1), at, size, count)


def format_day(moment: datetime) -> str:
    return f"{moment.day} {moment:%b}"
