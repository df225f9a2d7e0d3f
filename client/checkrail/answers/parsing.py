"""Parse JSON into typed answers: lenient about new fields, strict about needed ones.

A newer server may say more than this client knows: unknown fields are passed over and
stay in `raw`. What an answer must have, and an unknown word where one decides, is an
error: half an answer must never look like a permission.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from checkrail.errors import ProtocolError

A = TypeVar("A", bound="Answer")

_known_hints: dict[type, dict[str, Any]] = {}


@dataclass(frozen=True, kw_only=True)
class Answer:
    """An answer of the server; `raw` is all of it, unchanged."""

    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)


def parse_answer(kind: type[A], document: object) -> A:
    """Return the answer as this class; raise ProtocolError."""
    if not isinstance(document, dict):
        raise ProtocolError(f"{kind.__name__}: an object was expected.")
    hints = _get_hints(kind)
    values: dict[str, Any] = {"raw": document}
    for part in fields(kind):
        if part.name == "raw":
            continue
        if part.name in document:
            place = f"{kind.__name__}.{part.name}"
            values[part.name] = _parse_value(
                hints[part.name], document[part.name], place
            )
        elif _is_required(part):
            raise ProtocolError(f"{kind.__name__}: {part.name} is missing.")
    return kind(**values)


def _get_hints(kind: type) -> dict[str, Any]:
    known = _known_hints.get(kind)
    if known is None:
        known = _known_hints[kind] = get_type_hints(kind)
    return known


def _is_required(part: Field[Any]) -> bool:
    return part.default is MISSING and part.default_factory is MISSING


def _parse_value(hint: Any, value: object, place: str) -> Any:
    if hint is Any:
        return value
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        if value is None and type(None) in inner:
            return None
        (wanted,) = (option for option in inner if option is not type(None))
        return _parse_value(wanted, value, place)
    if origin is Literal:
        if value not in inner or not isinstance(value, str):
            known = ", ".join(map(str, inner))
            raise ProtocolError(f"{place}: {value!r} is none of {known}.")
        return value
    if origin is tuple:
        if not isinstance(value, list):
            raise ProtocolError(f"{place}: a list was expected.")
        return tuple(
            _parse_value(inner[0], item, f"{place}[{i}]")
            for i, item in enumerate(value)
        )
    if origin is Mapping or origin is dict:
        if not isinstance(value, dict):
            raise ProtocolError(f"{place}: an object was expected.")
        return value
    if isinstance(hint, type) and issubclass(hint, Answer):
        return parse_answer(hint, value)
    return _parse_plain(hint, value, place)


def _parse_plain(hint: Any, value: object, place: str) -> object:
    # A bool is an int in Python, and a whole number is a float in JSON.
    accepted = (int, float) if hint is float else hint
    if not isinstance(value, accepted) or (
        hint is not bool and isinstance(value, bool)
    ):
        raise ProtocolError(f"{place}: {value!r} is no {hint.__name__}.")
    return value
