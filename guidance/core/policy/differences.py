"""The differences between two policy documents, path by path."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

_ABSENT: Any = object()
_PLAIN = re.compile(r"[\w*-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """`before` is None where something is added, `after` where it is removed."""

    path: str
    change: Literal["added", "changed", "removed"]
    before: Any = None
    after: Any = None

    def to_json(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "change": self.change,
            "before": self.before,
            "after": self.after,
        }


def list_differences(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> list[Difference]:
    """Objects are compared key by key; lists and all else as a whole."""
    return list(_iterate_differences(before, after, ""))


def _iterate_differences(
    before: Mapping[str, Any], after: Mapping[str, Any], above: str
) -> Iterator[Difference]:
    for key in sorted({*before, *after}):
        path = above + format_path((key,))
        old, new = before.get(key, _ABSENT), after.get(key, _ABSENT)
        if _has_keys(old) and _has_keys(new) and {*_get_keys(old), *_get_keys(new)}:
            yield from _iterate_differences(_get_keys(old), _get_keys(new), f"{path}.")
        elif new is _ABSENT:
            yield Difference(path=path, change="removed", before=old)
        elif old is _ABSENT:
            yield Difference(path=path, change="added", after=new)
        elif _dump(old) != _dump(new):
            yield Difference(path=path, change="changed", before=old, after=new)


def format_path(keys: Iterable[str]) -> str:
    """Keys that would not read as one are quoted."""
    return ".".join(key if _PLAIN.fullmatch(key) else json.dumps(key) for key in keys)


def _has_keys(value: Any) -> bool:
    """What is absent may have some, too: an object is added key by key."""
    return value is _ABSENT or isinstance(value, Mapping)


def _get_keys(value: Any) -> Mapping[str, Any]:
    return {} if value is _ABSENT else value


def _dump(value: Any) -> str:
    """Python takes 1 for True and for 1.0; a policy document does not."""
    return json.dumps(value, sort_keys=True)
