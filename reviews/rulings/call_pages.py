"""The texts of a call in the order a person reads them, packed into pages.

Every text of a call stands on some page in full, so that whoever was served all pages
has been served the whole call.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from safetext import split_pages
from safetext.folding import count_escapes
from safetext.paging import ESCAPES, PAGE, ROWS, count_rows

# What a row of its own takes beside its name and its text.
_ROW = 48
# All names that lead to a value, together.
NAME_LIMIT = 200
_NAME_START = 40
# A longer pointer is not kept beside every text: nothing is marked there.
_PLACE_LIMIT = 2_000

_LITERALS = {bool: "true or false", int: "number", float: "number"}


class Form(StrEnum):
    """How a text is shown."""

    COMMAND = "command"
    TEXT = "text"
    DIFF = "diff"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallText:
    """`place` is the JSON pointer that findings name it by, `names` lead to it.

    `literal` says what a value is that is no text, such as a number.
    """

    names: tuple[str, ...] = ()
    place: str
    text: str
    form: Form = Form.TEXT
    literal: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """What of a text stands on one page."""

    text: CallText
    start: int
    end: int


CallPage = tuple[Slice, ...]


def build_call_pages(content: Mapping[str, Any]) -> tuple[CallPage, ...]:
    """The pages of a call; there is always one."""
    made: list[CallPage] = []
    current: list[Slice] = []
    room, rows_left, escapes_left = PAGE, ROWS, ESCAPES
    for text in list_texts(content):
        for start, end in split_pages(text.text):
            part = text.text[start:end]
            size = _ROW + _count_bytes("".join(text.names)) + _count_bytes(part)
            rows, escapes = count_rows(part), count_escapes(part)
            fits = size <= room and rows <= rows_left and escapes <= escapes_left
            if current and not fits:
                made.append(tuple(current))
                current = []
                room, rows_left, escapes_left = PAGE, ROWS, ESCAPES
            current.append(Slice(text=text, start=start, end=end))
            room -= size
            rows_left -= rows
            escapes_left -= escapes
    return (*made, tuple(current))


def list_texts(content: Mapping[str, Any]) -> Iterator[CallText]:
    shown, preview = content["shown"], content["preview"]
    match content["call_kind"]:
        case "command":
            command = shown["command"]
            yield CallText(place="/command", text=command, form=Form.COMMAND)
            rest = dict(shown.get("arguments") or {})
            if rest.get("command") == command:
                del rest["command"]  # the same text, given twice
            yield from _list_values(rest, "/arguments", ())
        case "edit":
            yield CallText(place="/content", text=shown["content"])
        case "multi_edit" if preview:
            yield CallText(place="/preview/diff", text=preview["diff"], form=Form.DIFF)
        case "multi_edit":
            edits = [_drop_default(edit) for edit in shown["edits"]]
            yield from _list_values(edits, "/edits", ("edits",))
        case _:
            yield from _list_values(shown.get("arguments") or {}, "/arguments", ())
            if "arguments_json" in shown:
                yield CallText(place="/arguments_json", text=shown["arguments_json"])


def _drop_default(edit: Mapping[str, Any]) -> dict[str, Any]:
    """In its only place, as most edits are: that need not be said of each."""
    return {name: part for name, part in edit.items() if name != "replace_all" or part}


def _list_values(
    value: object, place: str, names: tuple[str, ...]
) -> Iterator[CallText]:
    """Every value however deep, by the names that lead to it."""
    parts: Iterable[tuple[str, str, object]] = ()
    if isinstance(value, Mapping):
        parts = ((_build_name(key), key, part) for key, part in value.items())
    elif isinstance(value, list):
        parts = ((f"[{at}]", str(at), part) for at, part in enumerate(value))
    empty = True
    for name, key, part in parts:
        empty = False
        below = (*names, name)
        if sum(map(len, below)) > NAME_LIMIT:
            # Told once, in full and for itself, before all that stands below it.
            yield CallText(names=(*names, "…"), place="", text=name, literal="name")
            below = ("…", f"{name[:_NAME_START]}… ({len(name):,} characters)")
        step = f"{place}/{key.replace('~', '~0').replace('/', '~1')}"
        yield from _list_values(part, step if len(step) <= _PLACE_LIMIT else "", below)
    if empty and names:
        yield from _list_value(value, place, names)


def _build_name(key: str) -> str:
    """In quotes where it could be taken for a place in a list, or for one of our signs."""
    return key if key[:1] not in ("", "[", '"', "…") else json.dumps(key)


def _list_value(
    value: object, place: str, names: tuple[str, ...]
) -> Iterator[CallText]:
    if isinstance(value, str):
        yield CallText(names=names, place=place, text=value)
        return
    literal = _LITERALS.get(type(value), "nothing")
    if isinstance(value, Mapping | list):
        literal = "empty list" if isinstance(value, list) else "empty object"
    yield CallText(names=names, place=place, text=json.dumps(value), literal=literal)


def _count_bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
