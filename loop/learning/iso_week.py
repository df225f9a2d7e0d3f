"""ISO 8601 weeks in UTC: "2026-W46" begins on a Monday."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from common.paging import build_parameter_error

_WEEK = re.compile(r"(2[0-9]{3})-W([0-9]{2})")


@dataclass(frozen=True, slots=True, order=True)
class Week:
    monday: date

    @classmethod
    def from_moment(cls, moment: datetime) -> Week:
        day = moment.astimezone(UTC).date()
        return cls(day - timedelta(days=day.weekday()))

    @classmethod
    def parse(cls, text: str) -> Week:
        """Raises Invalid for weeks that do not exist, such as most years' 53rd."""
        match = _WEEK.fullmatch(text)
        try:
            if match is None:
                raise ValueError(text)
            return cls(date.fromisocalendar(int(match[1]), int(match[2]), 1))
        except ValueError:
            raise build_parameter_error(
                "week", "must be a week such as 2026-W46"
            ) from None

    @property
    def name(self) -> str:
        year, number, _ = self.monday.isocalendar()
        return f"{year:04d}-W{number:02d}"

    @property
    def begins(self) -> datetime:
        return datetime(
            self.monday.year, self.monday.month, self.monday.day, tzinfo=UTC
        )

    @property
    def ends(self) -> datetime:
        return self.begins + timedelta(days=7)

    @property
    def previous(self) -> Week:
        return Week(self.monday - timedelta(days=7))

    @property
    def following(self) -> Week:
        return Week(self.monday + timedelta(days=7))
