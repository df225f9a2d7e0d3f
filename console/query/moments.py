"""Times as people write them: `7d`, `today`, `2026-11-16`, `2026-11-16T14:00Z`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

ALLOWED = "7d, 24h, 30m, 2w, today, yesterday, 2026-11-16 or 2026-11-16T14:00Z"
_AGO = re.compile(r"([1-9][0-9]{0,3})([mhdw])")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_UNITS = {
    "m": ("minute", timedelta(minutes=1)),
    "h": ("hour", timedelta(hours=1)),
    "d": ("day", timedelta(days=1)),
    "w": ("week", timedelta(weeks=1)),
}
_DAYS = {"today": 0, "yesterday": 1}
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenTime:
    """One of: so long ago, a day (UTC), days before today (UTC), a moment."""

    words: str
    ago: timedelta | None = None
    days_before: int | None = None
    day: date | None = None
    moment: datetime | None = None

    def find_first(self, now: datetime) -> datetime:
        """The first moment of it, for `since`."""
        if self.moment is not None:
            return self.moment
        if self.ago is not None:
            return now - self.ago
        return _begin(self._find_day(now))

    def find_last(self, now: datetime) -> datetime:
        """The first moment behind it, for `until`: a day counts to its end."""
        if self.moment is not None or self.ago is not None:
            return self.find_first(now)
        return _begin(self._find_day(now)) + _DAY

    def _find_day(self, now: datetime) -> date:
        if self.day is not None:
            return self.day
        return now.astimezone(UTC).date() - (self.days_before or 0) * _DAY


def parse_time(text: str) -> WrittenTime | None:
    ago = _AGO.fullmatch(text)
    if ago is not None:
        name, unit = _UNITS[ago[2]]
        count = int(ago[1])
        words = f"{count} {name}{'' if count == 1 else 's'}"
        return WrittenTime(words=words, ago=count * unit)
    if text in _DAYS:
        return WrittenTime(words=text, days_before=_DAYS[text])
    try:
        if _DATE.fullmatch(text):
            day = date.fromisoformat(text)
            _begin(day) + _DAY  # a day that has no next one is refused
            return WrittenTime(words=f"{day:%d %b %Y} UTC".lstrip("0"), day=day)
        moment = datetime.fromisoformat(text.upper())
        if moment.tzinfo is None:
            return None
        moment = moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    words = f"{moment:%d %b %Y %H:%M} UTC".lstrip("0")
    return WrittenTime(words=words, moment=moment)


def _begin(day: date) -> datetime:
    return datetime.combine(day, time(), tzinfo=UTC)
