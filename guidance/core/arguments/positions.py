"""Positions in a raw text: line and column, and whether the text breaks off."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from guidance.core.strict_json import (
    DEPTH_LIMIT,
    JsonRefused,
    check_text,
    parse_decimal,
    parse_integer,
)

_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
# Also what people write instead of JSON, so that the end of the text is understood.
_ANY = re.compile(
    rf"{_STRING}|(?P<single>'[^'\\\n]*(?:\\.[^'\\\n]*)*')|(?P<comment>//[^\n]*|\#[^\n]*|/\*.*?\*/)"
    r"|(?P<open>[\[{])|(?P<close>[\]}])|(?P<broken>\"|/\*)|(?P<apostrophe>')"
    r"|[^\"'/\#\[\]{}]+|.",
    re.DOTALL,
)
# As many as the most values that are read can be made of.
_MOST_TOKENS = 50_000
# After these an apostrophe opens a string; elsewhere it is part of a word.
_BEFORE_VALUE = ("", "{", "[", ",", ":")
_PAIRS = ("{}", "[]")
_STRICT = re.compile(
    rf"[ \t\r\n]*(?:(?P<string>{_STRING})|(?P<open>[\[{{])|(?P<close>[\]}}])|(?P<comma>,)"
    r"|(?P<colon>:)|(?P<number>-?[0-9]+(?P<point>(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?))"
    r"|(?P<word>-?[A-Za-z]+))",
    re.DOTALL,
)


class Position(NamedTuple):
    line: int
    column: int


def locate(text: str, at: int) -> Position:
    """Counted from 1; a line ends with LF."""
    return Position(text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at))


def is_cut_off(text: str) -> bool:
    """The text ends within a string, a comment, an object or an array.

    So does, to us, one of more tokens than are read.
    """
    opened: list[str] = []
    before = ""
    ambiguous = "'" in text
    for number, token in enumerate(_ANY.finditer(text)):
        if number == _MOST_TOKENS:
            return True
        kind = token.lastgroup
        if kind == "broken" or (kind == "apostrophe" and before in _BEFORE_VALUE):
            return True
        if kind == "open":
            opened.append(token[0])
        elif kind == "close" and (not opened or opened.pop() + token[0] not in _PAIRS):
            return False
        if ambiguous and kind != "comment":
            before = token[0].rstrip()[-1:] or before
    return bool(opened)


def find_refusal(text: str) -> tuple[int, str]:
    """Where the first thing stands that is JSON and still refused."""
    keys: list[set[str] | None] = []
    key_expected = False
    for token in _iterate_tokens(text):
        kind = token.lastgroup
        at = token.start(kind or 0)
        try:
            if kind == "string":
                value = check_text(_decode_string(token["string"]))
                known = keys[-1] if keys else None
                if key_expected and known is not None:
                    if value in known:
                        return at, "a key stands twice in one object"
                    known.add(value)
            elif kind == "number":
                (parse_decimal if token["point"] else parse_integer)(token["number"])
            elif kind == "word" and token["word"] not in ("true", "false", "null"):
                raise JsonRefused("constant", "NaN and infinity are not JSON")
        except JsonRefused as refused:
            return at, str(refused)
        if kind == "open":
            if len(keys) == DEPTH_LIMIT:
                return at, f"the nesting is deeper than {DEPTH_LIMIT}"
            keys.append(set() if token["open"] == "{" else None)
        elif kind == "close" and keys:
            keys.pop()
        key_expected = kind in ("open", "comma")
    return 0, ""


def _decode_string(quoted: str) -> str:
    if "\\" not in quoted:
        return quoted[1:-1]
    text: str = json.loads(quoted, strict=False)
    return text


def _iterate_tokens(text: str) -> Iterator[re.Match[str]]:
    position = 0
    for token in _STRICT.finditer(text):
        if token.start() != position:
            return
        position = token.end()
        yield token
