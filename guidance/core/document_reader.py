"""Read one object of a JSON document strictly, and note every problem it has."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from guidance.core.money import format_usd, parse_usd

# A problem of a document: the dotted path of the value, and what is wrong with it.
Problem = tuple[str, str]

# No list of a policy is longer than this.
LIST_LIMIT = 500
# More of them are not named: a document may have as many as it has lines.
PROBLEM_LIMIT = 200
_MORE = "there is more: mend what is named first"

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

    def read_part(self, name: str) -> Section:
        """The object under this key; an absent one reads as empty."""
        value = self._take(name)
        return self._open(name, {} if value is _ABSENT else value)

    def read_integer(self, name: str, default: int, *, low: int, high: int) -> int:
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

    def read_number(
        self, name: str, default: float, *, low: float, high: float
    ) -> float:
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

    def read_limit(self, name: str, default: int | None, *, high: int) -> int | None:
        """A whole number of at least 1, or null for no limit."""
        if name not in self._rest:
            return default
        if self._rest[name] is None:
            del self._rest[name]
            return None
        return self.read_integer(name, 0, low=1, high=high)

    def read_money(self, name: str, default: int | None, *, high: int) -> int | None:
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
            amount = parse_usd(value)
        except ValueError as error:
            self.refuse(name, str(error))
            return default
        if not 1 <= amount <= high:
            self.refuse(name, f"must be from {format_usd(1)} to {format_usd(high)}")
        return amount

    def read_price(self, name: str, *, high: int, default: int | None = None) -> int:
        """An amount as a decimal string, in micros, that may be nothing; without a
        default it has to be there."""
        value = self._take(name)
        if value is _ABSENT and default is not None:
            return default
        if not isinstance(value, str):
            self.refuse(name, 'must be a decimal string such as "2.50"')
            return 0
        try:
            amount = parse_usd(value)
        except ValueError as error:
            self.refuse(name, str(error))
            return 0
        if amount > high:
            self.refuse(name, f"must be at most {format_usd(high)}")
        return amount

    def read_choice(self, name: str, default: str, *, among: tuple[str, ...]) -> str:
        value = self._take(name)
        if value is _ABSENT:
            return default
        if not isinstance(value, str) or value not in among:
            self.refuse(name, f"must be one of {', '.join(among)}")
            return default
        return value

    def read_choices(
        self, name: str, *, among: tuple[str, ...], pattern: str = ""
    ) -> dict[str, str]:
        """Choices by free names; an absent object reads as empty."""
        choices = self.read_free(name)
        for key, value in choices.items():
            if not isinstance(value, str) or value not in among:
                self.refuse(f"{name}.{key}", f"must be one of {', '.join(among)}")
        return {key: value for key, value in choices.items() if value in among}

    def read_flag(self, name: str, *, default: bool) -> bool:
        value = self._take(name)
        if value is _ABSENT:
            return default
        if not isinstance(value, bool):
            self.refuse(name, "must be true or false")
            return default
        return value

    def read_text(
        self, name: str, *, most: int, default: str | None = None, pattern: str = ""
    ) -> str:
        """A text that has to be there, unless there is a default.

        `pattern` here and below is for the schema alone: whoever reads says in words
        what is wrong.
        """
        value = self._take(name)
        if value is _ABSENT and default is not None:
            return default
        if not isinstance(value, str) or not 1 <= len(value) <= most:
            self.refuse(name, f"must be a text of 1 to {most} characters")
            return ""
        return value

    def read_texts(
        self,
        name: str,
        default: tuple[str, ...],
        *,
        problem: Callable[[str], str | None],
        among: tuple[str, ...] = (),
        pattern: str = "",
        fewest: int = 0,
    ) -> tuple[str, ...]:
        """A list of texts; `problem` says what is wrong with one, None if nothing."""
        value = self._take(name)
        if value is _ABSENT:
            return default
        if not isinstance(value, list) or len(value) > LIST_LIMIT:
            self.refuse(name, f"must be a list of at most {LIST_LIMIT} texts")
            return default
        if len(value) < fewest:
            self.refuse(name, f"must have at least {fewest}")
        for place, item in enumerate(value):
            why = problem(item) if isinstance(item, str) else "must be a text"
            if why is not None:
                self.refuse(f"{name}.{place}", why)
        return tuple(str(item) for item in value)

    def read_parts(self, name: str, *, text_key: str = "") -> tuple[Section, ...]:
        """The objects of a list under this key; an absent one reads as empty.

        With `text_key` an item may be a text: it stands for an object with that key.
        """
        value = self._take(name)
        if value is _ABSENT:
            return ()
        if not isinstance(value, list) or len(value) > LIST_LIMIT:
            self.refuse(name, f"must be a list of at most {LIST_LIMIT} objects")
            return ()
        return tuple(
            self._open(
                f"{name}.{place}",
                {text_key: item} if text_key and isinstance(item, str) else item,
            )
            for place, item in enumerate(value)
        )

    def read_flag_or_parts(
        self, name: str, *, default: bool
    ) -> bool | tuple[Section, ...]:
        """True or false, or a list of objects."""
        if isinstance(self._rest.get(name), list):
            return self.read_parts(name)
        return self.read_flag(name, default=default)

    def read_named_parts(
        self, name: str, *, most: int = LIST_LIMIT, pattern: str = ""
    ) -> dict[str, Section]:
        """Objects by free names; an absent one reads as empty."""
        value = self._take(name)
        if value is _ABSENT:
            return {}
        if not isinstance(value, Mapping) or len(value) > most:
            self.refuse(name, f"must be an object of at most {most} objects")
            return {}
        return {
            str(key): self._open(f"{name}.{key}", item) for key, item in value.items()
        }

    def read_objects(self, name: str) -> dict[str, dict[str, Any]]:
        """Objects by free names, taken as they are."""
        value = self._take(name)
        if value is _ABSENT:
            return {}
        if not isinstance(value, Mapping) or len(value) > LIST_LIMIT:
            self.refuse(name, f"must be an object of at most {LIST_LIMIT} objects")
            return {}
        found = {}
        for key, item in value.items():
            if isinstance(item, Mapping):
                found[str(key)] = dict(item)
            else:
                self.refuse(f"{name}.{key}", "must be an object")
        return found

    def read_free(self, name: str) -> dict[str, Any]:
        """One object, taken as it is; an absent one reads as empty."""
        value = self._take(name)
        if value is _ABSENT:
            return {}
        if not isinstance(value, Mapping) or not all(isinstance(k, str) for k in value):
            self.refuse(name, "must be an object")
            return {}
        return dict(value)

    def has(self, name: str) -> bool:
        """Whether something stands here that has not been read."""
        return name in self._rest

    def is_valid(self, *names: str) -> bool:
        """Whether none of these keys was refused: only then compare them."""
        return self._wrong.isdisjoint(names)

    def refuse(self, name: str, message: str) -> None:
        self._wrong.add(name)
        self._rest.pop(name, None)
        self._add_problem(name, message)

    def close(self) -> None:
        for name in self._rest:
            self._add_problem(str(name), "unknown key")

    def _add_problem(self, name: str, message: str) -> None:
        if len(self._problems) < PROBLEM_LIMIT:
            self._problems.append((self._build_path(name), message))
        elif len(self._problems) == PROBLEM_LIMIT:
            self._problems.append(("", _MORE))

    def _open(self, name: str, document: object) -> Section:
        path = self._build_path(name)
        return Section(document, path=path, problems=self._problems)

    def _take(self, name: str) -> object:
        return self._rest.pop(name, _ABSENT)

    def _build_path(self, name: str) -> str:
        return f"{self._path}.{name}" if self._path else name
