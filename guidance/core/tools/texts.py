"""The texts of a call, each with its place, and which of them are code."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from guidance.core.shell_commands.shell.quoting import quote
from guidance.core.tools.marked_arguments import normalize_name

# A word that every shell takes as it stands.
# Words of SQL are put together as they are: quoted, TABLE would be a text. No program
# has one of these names.
_SQL = re.compile(
    r"\s*(?!\s)(?:select|insert|update|delete|drop|truncate|alter|create|merge|grant|revoke)\b",
    re.IGNORECASE,
)
# What stands beside a command and belongs to it, as `normalize_name` gives them.
_PROGRAM = frozenset({"program", "executable", "name", "command", "cmd", "file"})
_WORDS = ("args", "arguments", "argv", "params", "parameters")
_INPUT = ("stdin", "input")
# What most arguments are; asked before anything slower, as are dicts.
_LEAVES = frozenset({str, int, float, bool, type(None)})
_OBJECT = (dict, Mapping)
_LIST = (list, tuple)
_PARTED = (*_LIST, *_OBJECT)

# The parts of one object: each with its name as it is spelled, and its key.
Parts = Sequence[tuple[str, str, Any]]
Names = tuple[str, ...]


class Holder(NamedTuple):
    """An object somewhere in the arguments, where it stands, and the names above it."""

    parts: Parts
    place: str
    above: Names = ()


class Text(NamedTuple):
    """`place` is a JSON pointer; a joined text stands there word by word."""

    place: str
    text: str
    joined: bool = False


def list_texts(value: object, place: str = "") -> Iterator[Text]:
    """Every text in the value, however deep; key names are not texts of a call."""
    if isinstance(value, str):
        yield Text(place, value)
    elif isinstance(value, _OBJECT):
        for key, part in value.items():
            yield from list_texts(part, f"{place}/{escape_key(str(key))}")
    elif isinstance(value, _LIST):
        for number, part in enumerate(value):
            yield from list_texts(part, f"{place}/{number}")


def list_holders(arguments: Mapping[str, Any], place: str) -> list[Holder]:
    """Every object in the arguments, the outer ones first."""
    found: list[Holder] = []
    _collect_holders(arguments, place, (), found)
    return found


def _collect_holders(
    value: object, place: str, above: Names, found: list[Holder]
) -> None:
    if isinstance(value, _OBJECT):
        parts = _list_parts(value)
        found.append(Holder(parts, place, above))
        for name, key, part in parts:
            if _has_parts(part):
                _collect_holders(
                    part, f"{place}/{escape_key(key)}", (*above, name), found
                )
    elif isinstance(value, _LIST):
        for number, part in enumerate(value):
            if _has_parts(part):
                _collect_holders(part, f"{place}/{number}", above, found)


def _list_parts(value: Mapping[str, Any]) -> Parts:
    return [(normalize_name(key), str(key), part) for key, part in value.items()]


def list_marked_texts(held: Iterable[Holder], names: frozenset[str]) -> Iterator[Text]:
    """The texts under arguments of these names, such as a policy marks."""
    for holder in _select_holders(held, names):
        for name, key, part in holder.parts:
            if name in names:
                yield from _list_code(part, f"{holder.place}/{escape_key(key)}")
        yield from _join_commands(holder.parts, names, holder.place)


def find_name_spelled_twice(
    held: Iterable[Holder], names: frozenset[str]
) -> str | None:
    """A marked name that stands in one object in two spellings which differ."""
    for holder in _select_holders(held, names):
        met: dict[str, object] = {}
        for name, _, part in holder.parts:
            if name in names and met.setdefault(name, part) != part:
                return name
    return None


def _select_holders(held: Iterable[Holder], names: frozenset[str]) -> Iterator[Holder]:
    """Those that hold such a name; what is below one is code, not searched."""
    for holder in held:
        if names.isdisjoint(holder.above):
            for name, _, _ in holder.parts:
                if name in names:
                    yield holder
                    break


def _list_code(value: object, place: str) -> Iterator[Text]:
    """A list is one command given word by word, and each word may be one itself."""
    if isinstance(value, _LIST) and (line := _join_words(value)):
        yield Text(place, line, joined=True)
    yield from _list_code_below(value, place)
    yield from list_texts(value, place)


def _list_code_below(value: object, place: str) -> Iterator[Text]:
    """Commands in parts further down. Of lists in lists only the innermost, or the
    outer ones would be read again at every level."""
    if isinstance(value, _OBJECT):
        yield from _join_commands(_list_parts(value), _PROGRAM, place)
    inner: Iterable[tuple[object, object]] = ()
    if isinstance(value, _OBJECT):
        inner = value.items()
    elif isinstance(value, _LIST):
        inner = enumerate(value)
    for key, part in inner:
        if not _has_parts(part):
            continue
        there = f"{place}/{escape_key(str(key))}"
        if isinstance(part, _LIST) and not any(map(_has_parts, part)):
            if line := _join_words(part):
                yield Text(there, line, joined=True)
        else:
            yield from _list_code_below(part, there)


def _has_parts(value: object) -> bool:
    return type(value) not in _LEAVES and isinstance(value, _PARTED)


def _join_commands(parts: Parts, heads: Collection[str], place: str) -> Iterator[Text]:
    """One command in several arguments: a program, its words, what it reads."""
    by_name = {name: part for name, _, part in parts}
    for name, program in by_name.items():
        head = _join_words(program) if name in heads else ""
        if not head or _SQL.match(head):
            continue
        beside = {other: part for other, part in by_name.items() if other != name}
        words = [_join_words(beside[other]) for other in _WORDS if other in beside]
        line = " ".join(filter(None, [head, *words]))
        if line != head:
            yield Text(place, line, joined=True)
        for other in _INPUT:
            if lines := "\n".join(_flatten(beside.get(other))):
                yield Text(place, _feed_input(line, lines), joined=True)


def _feed_input(line: str, lines: str) -> str:
    """The command with its input, which must not hold the line that ends it."""
    end = hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{{ {line}\n}} <<'{end}'\n{lines}\n{end}\n"


def _join_words(value: object) -> str:
    if isinstance(value, str):
        return value
    words = list(_flatten(value))
    as_they_are = bool(words) and _SQL.match(words[0])
    return " ".join(words if as_they_are else map(quote, words))


def _flatten(value: object) -> Iterator[str]:
    """The words of lists in lists, numbers as they are written."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, bool):
        yield str(value).lower()
    elif isinstance(value, int | float):
        yield str(value)
    elif isinstance(value, _LIST):
        for part in value:
            yield from _flatten(part)


def has_more_parts(value: object, limit: int) -> bool:
    """Does a value hold more values and names than that, however deep?"""
    count, waiting = 0, [value]
    while waiting and count <= limit:
        each = waiting.pop()
        parts: Collection[object] = ()
        if isinstance(each, _OBJECT):
            count += len(each)
            parts = each.values()
        elif isinstance(each, _LIST):
            parts = each
        count += len(parts)
        waiting += filter(_has_parts, parts)
    return count > limit


def escape_key(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
