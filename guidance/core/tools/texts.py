"""The texts of a call, each with its place, and which of them are code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from guidance.core.arguments import allowlisted

# A word that every shell takes as it stands.
_PLAIN = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%_-+=:,./"
)


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


def marked_texts(
    arguments: Mapping[str, Any], *, tool: str, marks: Iterable[str], place: str
) -> Iterator[Text]:
    """The texts under arguments that a policy marks, such as Bash.command."""
    names = {
        argument
        for pattern, _, argument in (mark.rpartition(".") for mark in marks)
        if allowlisted(tool, [pattern])
    }
    if names:
        yield from _under(arguments, names, place)


def _under(value: object, names: set[str], place: str) -> Iterator[Text]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            below = f"{place}/{_escaped(str(key))}"
            if key in names:
                yield from _code(part, below)
            else:
                yield from _under(part, names, below)
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _under(part, names, f"{place}/{number}")


def _code(value: object, place: str) -> Iterator[Text]:
    """A list of texts is one command given word by word, and each may be one itself."""
    words = value if isinstance(value, list) else []
    if words and all(isinstance(word, str) for word in words):
        yield Text(place, " ".join(map(_quoted, words)), joined=True)
    yield from every_text(value, place)


def _quoted(word: str) -> str:
    if word and _PLAIN.issuperset(word):
        return word
    return "'" + word.replace("'", "'\"'\"'") + "'"


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
