"""Every text in a decoded value: values, numbers and the names of keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

DEPTH_LIMIT = 100

Path = tuple[str | int, ...]
# The names that lead to a key, without the places in lists.
OwnKeys = frozenset[tuple[str, ...]]


class TooDeep(ValueError):
    """A value nested deeper than anything that comes through a door."""


class Text(NamedTuple):
    """One text, or the key itself where `in_key` is true.

    `name` is what the surroundings call the value: its key, the flag before it, or the
    name beside it in {"name": …, "value": …}.
    """

    path: Path
    text: str
    in_key: bool = False
    name: str = ""
    is_number: bool = False


def is_own(path: Path, own_keys: OwnKeys) -> bool:
    """A key that the caller put there, not one that came with the value."""
    return bool(own_keys) and tuple(n for n in path if isinstance(n, str)) in own_keys


def texts(
    value: object, *, own_keys: OwnKeys, path: Path = (), name: str = ""
) -> Iterator[Text]:
    if len(path) > DEPTH_LIMIT:
        raise TooDeep(f"the value is nested deeper than {DEPTH_LIMIT}")
    if isinstance(value, str):
        yield Text(path, value, name=name)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield Text(path, repr(value), name=name, is_number=True)
    elif isinstance(value, Mapping):
        # {"name": "x", "value": …} or "x": {"value": …}
        beside = _name_beside(value) or name
        for key, part in value.items():
            below = (*path, str(key))
            if not is_own(below, own_keys):
                yield Text(below, str(key), in_key=True)
            called = str(key)
            if beside and called.lower() in ("value", "val"):
                called = beside
            yield from texts(part, own_keys=own_keys, path=below, name=called)
    elif isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        before = ""
        for place, part in enumerate(value):
            called = before if before.startswith("-") else name
            below = (*path, place)
            yield from texts(part, own_keys=own_keys, path=below, name=called)
            before = part if isinstance(part, str) else ""


def _name_beside(value: Mapping[object, object]) -> str:
    for key in ("name", "Name", "NAME", "key", "Key"):
        called = value.get(key)
        if isinstance(called, str):
            return called
    return ""
