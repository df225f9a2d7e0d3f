"""Strict reading of one object of a JSON document, noting every problem it has."""

from __future__ import annotations

import math
from collections.abc import Mapping

from guidance.core.money import micros, usd

# A problem of a document: the dotted path of the value, and what is wrong with it.
Problem = tuple[str, str]

_ABSENT = object()


class Section:
    """Reads the keys of one object; `close` notes the keys that nobody asked for.

    A value that is absent or wrong yields the default, so that reading goes on and
    all problems are found at once; whoever reads must refuse a document with any.
    """

    def __init__(self, document: object, *, path: str, problems: list[Problem]) -> None:
        self._path = path
        self._problems = problems
        self._wrong: set[str] = set()
        self._rest: dict[object, object] = {}
        if isinstance(document, Mapping):
            self._rest.update(document)
        else:
            problems.append((path, "must be an object"))

    def part(self, name: str) -> Section:
        """The object under this key; an absent one reads as empty."""
        value = self._take(name)
        return Section(
            {} if value is _ABSENT else value,
            path=self._at(name),
            problems=self._problems,
        )

    def integer(self, name: str, default: int, *, low: int, high: int) -> int:
        value = self._take(name)
        if value is _ABSENT:
            return default
        # bool is a subclass of int, and true is no count.
        if isinstance(value, bool) or not isinstance(value, int):
            self.refuse(name, "must be a whole number")
        elif not low <= value <= high:
            self.refuse(name, f"must be from {low} to {high}")
        else:
            return value
        return default

    def number(self, name: str, default: float, *, low: float, high: float) -> float:
        value = self._take(name)
        if value is _ABSENT:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.refuse(name, "must be a number")
        elif not math.isfinite(value) or not low <= value <= high:
            self.refuse(name, f"must be from {low:g} to {high:g}")
        else:
            return float(value)
        return default

    def limit(self, name: str, default: int | None, *, high: int) -> int | None:
        """A whole number of at least 1, or null for no limit."""
        if name not in self._rest:
            return default
        if self._rest[name] is None:
            del self._rest[name]
            return None
        return self.integer(name, 0, low=1, high=high)

    def money(self, name: str, default: int | None, *, high: int) -> int | None:
        """An amount as a decimal string, in micros, or null for no limit."""
        if name not in self._rest:
            return default
        if self._rest[name] is None:
            del self._rest[name]
            return None
        value = self._take(name)
        if not isinstance(value, str):
            self.refuse(name, 'must be a decimal string such as "10.00"')
            return default
        try:
            amount = micros(value)
        except ValueError as error:
            self.refuse(name, str(error))
            return default
        if not 1 <= amount <= high:
            self.refuse(name, f"must be from {usd(1)} to {usd(high)}")
        return amount

    def choice(self, name: str, default: str, *, among: tuple[str, ...]) -> str:
        value = self._take(name)
        if value is _ABSENT:
            return default
        if not isinstance(value, str) or value not in among:
            self.refuse(name, f"must be one of {', '.join(among)}")
            return default
        return value

    def sound(self, *names: str) -> bool:
        """Whether none of these keys was refused: only then compare them."""
        return self._wrong.isdisjoint(names)

    def refuse(self, name: str, message: str) -> None:
        self._wrong.add(name)
        self._problems.append((self._at(name), message))

    def close(self) -> None:
        for name in self._rest:
            self._problems.append((self._at(str(name)), "unknown key"))

    def _take(self, name: str) -> object:
        return self._rest.pop(name, _ABSENT)

    def _at(self, name: str) -> str:
        return f"{self._path}.{name}" if self._path else name
