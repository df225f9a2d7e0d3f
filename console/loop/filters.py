"""Parse list filters from the query string; invalid values are ignored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import urlencode

from console.loop.vocabulary import ACTIONS, DECIDERS, OUTCOMES
from guidance.core.loop.vocabulary import TRIGGERS

_WORDS: Mapping[str, Mapping[str, str]] = {
    "action": ACTIONS,
    "outcome": {name: look.word for name, look in OUTCOMES.items()},
    "trigger": {name: name for name in TRIGGERS},
    "decider": DECIDERS,
}
_COLUMNS = {"trigger": "trigger_type"}


class FilterChoice(NamedTuple):
    value: str
    word: str
    chosen: bool


class FilterField(NamedTuple):
    name: str
    label: str
    choices: list[FilterChoice]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    action: str = ""
    outcome: str = ""
    trigger: str = ""
    decider: str = ""
    day: date | None = None

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> Filters:
        known = {
            name: value
            for name, words in _WORDS.items()
            if (value := query.get(name, "")) in words
        }
        return cls(**known, day=_parse_day(query.get("day", "")))

    @property
    def any(self) -> bool:
        return self != Filters()

    @property
    def lookups(self) -> dict[str, Any]:
        """As the database is asked for them."""
        wanted: dict[str, Any] = {
            _COLUMNS.get(name, name): value
            for name in _WORDS
            if (value := getattr(self, name))
        }
        if self.day is not None:
            start = datetime(self.day.year, self.day.month, self.day.day, tzinfo=UTC)
            wanted["decided_at__gte"] = start
            wanted["decided_at__lt"] = start + timedelta(days=1)
        return wanted

    @property
    def form(self) -> list[FilterField]:
        return [
            FilterField(
                name,
                name.capitalize(),
                [
                    FilterChoice(value, word, value == getattr(self, name))
                    for value, word in words.items()
                ],
            )
            for name, words in _WORDS.items()
        ]

    def build_query(self, **others: str) -> str:
        """The same filters in an address, with some parts of it set otherwise."""
        mine = {each.name: str(getattr(self, each.name) or "") for each in fields(self)}
        return urlencode({k: v for k, v in {**mine, **others}.items() if v})


def _parse_day(text: str) -> date | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    # Its end has to be a day as well.
    return day if date(2000, 1, 1) <= day < date(3000, 1, 1) else None
