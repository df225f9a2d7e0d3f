"""Every text in a decoded value: values, numbers and the names of keys."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

DEPTH_LIMIT = 100
NUMBERS = (int, float)
BINARY = (bytes, bytearray)
# Most are dicts, and that is asked much faster.
OBJECT = (dict, Mapping)

Path = tuple[str | int, ...]
# The names that lead to a key, without the places in lists. Below a key that is not
# among them none is looked for.
Names = tuple[str, ...]
OwnKeys = frozenset[Names]


class TooDeep(ValueError):
    """A value nested deeper than any request may be."""


_PAIR_NAME = 80
# Keys that hold the name of what stands beside them, the first of them before others.
NAMING = dict.fromkeys(("name", "Name", "NAME", "key", "Key"))
_NO_NAME = re.compile(r"[\"'=<>$(){}\n;|&]")


class Text(NamedTuple):
    """One text, or the key itself where `in_key` is true.

    `name` is what the surroundings call the value: its key, the flag before it, or the
    name beside it in {"name": …, "value": …}. `paired` is the other half of a pair in a
    list, which may be its name.
    """

    path: Path
    text: str
    in_key: bool = False
    name: str = ""
    is_number: bool = False
    paired: str = ""


class Texts:
    """The texts of a value in its order, its own keys, and lists that may be commands."""

    def __init__(self, value: object, *, own_keys: OwnKeys) -> None:
        self.every: list[Text] = []
        self.own: set[Path] = set()
        self.lists: list[tuple[Path, Sequence[str]]] = []
        self._own_keys = own_keys
        self._gather(value, (), "", () if own_keys else None)

    def _gather(
        self, value: object, path: Path, name: str, own: Names | None, paired: str = ""
    ) -> None:
        if len(path) > DEPTH_LIMIT:
            raise TooDeep(f"the value is nested deeper than {DEPTH_LIMIT}")
        if isinstance(value, str):
            self.every.append(Text(path, value, False, name, False, paired))
        elif isinstance(value, OBJECT):
            self._mapping(value, path, name, own)
        elif isinstance(value, NUMBERS):
            if not isinstance(value, bool):
                self.every.append(Text(path, repr(value), False, name, True))
        elif isinstance(value, Sequence) and not isinstance(value, BINARY):
            self._sequence(value, path, name, own)

    def _mapping(
        self, value: Mapping[object, object], path: Path, name: str, own: Names | None
    ) -> None:
        # {"name": "x", "value": …} or "x": {"value": …}
        beside = _find_name_beside(value) or name
        for key, part in value.items():
            called = str(key)
            below = (*path, called)
            names = None if own is None else (*own, called)
            if names in self._own_keys:
                self.own.add(below)
            else:
                names = None
                self.every.append(Text(below, called, True))
            if beside and called.lower() in ("value", "val"):
                called = beside
            self._gather(part, below, called, names)

    def _sequence(
        self, value: Sequence[object], path: Path, name: str, own: Names | None
    ) -> None:
        words = [part for part in value if isinstance(part, str)]
        if len(words) == len(value) > 1:
            self.lists.append((path, words))
        before = ""
        for place, part in enumerate(value):
            called = before if before.startswith("-") else name
            paired = (
                before if place == 1 and len(value) == 2 and is_name(before) else ""
            )
            self._gather(part, (*path, place), called, own, paired)
            before = part if isinstance(part, str) else ""


def is_name(text: str) -> bool:
    """Words such as a pair's first half has them: no setting, no quotes, no sentence."""
    return len(text) <= _PAIR_NAME and not _NO_NAME.search(text.strip("\"' =:"))


def _find_name_beside(value: Mapping[object, object]) -> str:
    if NAMING.keys().isdisjoint(value):
        return ""
    for key in NAMING:
        called = value.get(key)
        if isinstance(called, str):
            return called
    return ""
