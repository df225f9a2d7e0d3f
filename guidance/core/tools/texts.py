"""The texts of a call, each with its place, and which of them are code."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from guidance.core.arguments import allowlisted

# A word that every shell takes as it stands.
_PLAIN = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%_-+=:,./"
)
# Words of SQL are put together as they are: quoted, TABLE would be a text. No program
# has one of these names.
_SQL = re.compile(
    r"\s*(?:select|insert|update|delete|drop|truncate|alter|create|merge|grant|revoke)\b",
    re.IGNORECASE,
)
# What stands beside a command and belongs to it, as `spelled` gives the names.
_PROGRAM = frozenset({"program", "executable", "name", "command", "cmd", "file"})
_WORDS = ("args", "arguments", "argv", "params", "parameters")
_INPUT = ("stdin", "input")


class Text(NamedTuple):
    """`place` is a JSON pointer; a joined text stands there word by word."""

    place: str
    text: str
    joined: bool = False


def every_text(value: object, place: str = "") -> Iterator[Text]:
    """Every text in the value, however deep; key names are not texts of a call."""
    if isinstance(value, str):
        yield Text(place, value)
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from every_text(part, f"{place}/{_escaped(str(key))}")
    elif isinstance(value, list | tuple):
        for number, part in enumerate(value):
            yield from every_text(part, f"{place}/{number}")


def spelled(name: object) -> str:
    """Tools take Command, " command" and COMMAND for one name, and so must we."""
    return "".join(filter(str.isalnum, str(name).casefold()))


def marked_texts(
    arguments: Mapping[str, Any], *, tool: str, marks: Iterable[str], place: str
) -> Iterator[Text]:
    """The texts under arguments that a policy marks, such as Bash.command."""
    names = _marked_names(tool, marks)
    for parts, below in _holders(arguments, names, place):
        for key, part in parts.items():
            if spelled(key) in names:
                yield from _code(part, f"{below}/{_escaped(str(key))}")
        yield from _together(parts, names, below)


def spelled_twice(
    arguments: Mapping[str, Any], *, tool: str, marks: Iterable[str]
) -> str | None:
    """A marked name that stands in one object in two spellings which differ."""
    names = _marked_names(tool, marks)
    for parts, _ in _holders(arguments, names, ""):
        met: dict[str, object] = {}
        for key, part in parts.items():
            name = spelled(key)
            if name in names and met.setdefault(name, part) != part:
                return name
    return None


def _marked_names(tool: str, marks: Iterable[str]) -> set[str]:
    return {
        spelled(argument)
        for pattern, _, argument in (mark.rpartition(".") for mark in marks)
        if allowlisted(tool.casefold(), [pattern.casefold()])
    }


def _holders(
    value: object, names: Collection[str], place: str
) -> Iterator[tuple[Mapping[str, Any], str]]:
    """The objects that hold a marked name; what is below one is code, not searched."""
    if isinstance(value, Mapping):
        if any(spelled(key) in names for key in value):
            yield value, place
        for key, part in value.items():
            if spelled(key) not in names:
                yield from _holders(part, names, f"{place}/{_escaped(str(key))}")
    elif isinstance(value, list | tuple):
        for number, part in enumerate(value):
            yield from _holders(part, names, f"{place}/{number}")


def _code(value: object, place: str) -> Iterator[Text]:
    """A list is one command given word by word, and each word may be one itself."""
    if isinstance(value, list | tuple) and (line := _line(value)):
        yield Text(place, line, joined=True)
    yield from _below(value, place)
    yield from every_text(value, place)


def _below(value: object, place: str) -> Iterator[Text]:
    """Commands in parts further down. Of lists in lists only the innermost, or the
    outer ones would be read again at every level."""
    if isinstance(value, Mapping):
        yield from _together(value, _PROGRAM, place)
    inner: Iterable[tuple[object, object]] = ()
    if isinstance(value, Mapping):
        inner = value.items()
    elif isinstance(value, list | tuple):
        inner = enumerate(value)
    for key, part in inner:
        there = f"{place}/{_escaped(str(key))}"
        if isinstance(part, list | tuple) and not any(map(_has_parts, part)):
            if line := _line(part):
                yield Text(there, line, joined=True)
        else:
            yield from _below(part, there)


def _has_parts(value: object) -> bool:
    return isinstance(value, Mapping | list | tuple)


def _together(
    parts: Mapping[str, Any], heads: Collection[str], place: str
) -> Iterator[Text]:
    """One command in several arguments: a program, its words, what it reads."""
    by_name = {spelled(key): part for key, part in parts.items()}
    for name, program in by_name.items():
        head = _line(program) if name in heads else ""
        if not head or _SQL.match(head):
            continue
        beside = {other: part for other, part in by_name.items() if other != name}
        words = [_line(beside[other]) for other in _WORDS if other in beside]
        line = " ".join(filter(None, [head, *words]))
        if line != head:
            yield Text(place, line, joined=True)
        for other in _INPUT:
            if lines := "\n".join(_flat(beside.get(other))):
                yield Text(place, _fed(line, lines), joined=True)


def _fed(line: str, lines: str) -> str:
    """The command with its input, which must not hold the line that ends it."""
    end = hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{{ {line}\n}} <<'{end}'\n{lines}\n{end}\n"


def _line(value: object) -> str:
    if isinstance(value, str):
        return value
    words = list(_flat(value))
    as_they_are = bool(words) and _SQL.match(words[0])
    return " ".join(words if as_they_are else map(_quoted, words))


def _flat(value: object) -> Iterator[str]:
    """The words of lists in lists, numbers as they are written."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, bool):
        yield str(value).lower()
    elif isinstance(value, int | float):
        yield str(value)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _flat(part)


def _quoted(word: str) -> str:
    if word and _PLAIN.issuperset(word):
        return word
    return "'" + word.replace("'", "'\"'\"'") + "'"


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
