"""Reading what is almost JSON, for tools whose policy allows it.

Put right, and noted each time: single quotes, trailing commas, comments, keys without
quotes, the constants of Python and JavaScript, raw line ends in strings, numbers that
are none (as strings), a comma or colon left out where no string is beside the gap, and a
fence of backticks around it all. Anything else is refused, and so is a text that breaks
off: nothing is ever completed. A quote inside a string is not guessed at, since that
would change what a command says.
"""

from __future__ import annotations

import json
import re
from typing import Any

from guidance.core.arguments.argument import Repair
from guidance.core.arguments.positions import locate
from guidance.core.strict_json import (
    DEPTH_LIMIT,
    JsonRefused,
    parse_decimal,
    parse_integer,
)

# More than a slip or two of the same kind is another format.
REPAIR_LIMIT = 100

_BLANK = re.compile(r"[ \t\r\n\ufeff]+")
_COMMENT = re.compile(r"//[^\n]*|#[^\n]*|/\*.*?\*/", re.DOTALL)
_DOUBLE = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"', re.DOTALL)
_SINGLE = re.compile(r"'([^'\\]*(?:\\.[^'\\]*)*)'", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.+-])")
_BARE = re.compile(r"[0-9][0-9A-Za-z.-]*(?=[\s,}\]])")
_FENCE = re.compile(r"\s*```(?:json)?[ \t]*\r?\n(.*)\r?\n[ \t]*```\s*", re.DOTALL)
_WORDS = {"true": True, "false": False, "null": None}
_FOREIGN = {"True": True, "False": False, "None": None, "undefined": None}


class Broken(ValueError):
    """Not to be put right; `at` is where reading ended."""

    def __init__(self, at: int, message: str, *, truncated: bool = False) -> None:
        super().__init__(message)
        self.at = at
        self.message = message
        self.truncated = truncated


def read_leniently(text: str) -> tuple[Any, tuple[Repair, ...]]:
    """The value and every repair, or Broken."""
    fence = _FENCE.fullmatch(text)
    reader = _Reader(text, *(fence.span(1) if fence else (0, len(text))))
    if fence is not None:
        reader.note(0, "a fence of backticks taken off")
    value = reader.read_value(depth=1)
    reader.skip_blanks()
    if reader.at < reader.end:
        raise Broken(reader.at, "something follows the end of the object")
    return value, tuple(reader.repairs)


class _Reader:
    def __init__(self, text: str, start: int, end: int) -> None:
        self.text = text
        self.at = start
        self.end = end
        self.repairs: list[Repair] = []

    def note(self, at: int, what: str) -> None:
        if len(self.repairs) == REPAIR_LIMIT:
            raise Broken(at, "too much is wrong with the text to put it right")
        line, column = locate(self.text, at)
        self.repairs.append(Repair(line=line, column=column, what=what))

    def skip_blanks(self) -> None:
        while True:
            blank = _BLANK.match(self.text, self.at, self.end)
            comment = blank or _COMMENT.match(self.text, self.at, self.end)
            if comment is None:
                return
            if blank is None:
                self.note(self.at, "a comment left out")
            self.at = comment.end()

    def peek(self) -> str:
        """The next character that counts; the end of the text is a break."""
        self.skip_blanks()
        if self.at >= self.end:
            raise Broken(self.end, "the text breaks off; send it whole", truncated=True)
        return self.text[self.at]

    def read_value(self, *, depth: int) -> Any:
        if depth > DEPTH_LIMIT + 1:
            raise Broken(self.at, f"the nesting is deeper than {DEPTH_LIMIT}")
        sign = self.peek()
        if sign == "{":
            return self._read_object(depth)
        if sign == "[":
            return self._read_array(depth)
        if sign in "\"'":
            return self._read_string()
        return self._read_scalar()

    def _read_object(self, depth: int) -> dict[str, Any]:
        self.at += 1
        result: dict[str, Any] = {}
        while self.peek() != "}":
            start = self.at
            key = self._read_key()
            if key in result:
                raise Broken(start, "a key stands twice in one object")
            if self.peek() == ":":
                self.at += 1
            elif self._is_string_next() or self.text[self.at] in ",}]":
                raise Broken(self.at, "a colon is missing")
            else:
                self.note(self.at, "a missing colon put in")
            result[key] = self.read_value(depth=depth + 1)
            self._read_separator("}", after_string=isinstance(result[key], str))
        self.at += 1
        return result

    def _read_array(self, depth: int) -> list[Any]:
        self.at += 1
        result: list[Any] = []
        while self.peek() != "]":
            result.append(self.read_value(depth=depth + 1))
            self._read_separator("]", after_string=isinstance(result[-1], str))
        self.at += 1
        return result

    def _read_separator(self, closing: str, *, after_string: bool) -> None:
        sign = self.peek()
        if sign == ",":
            comma = self.at
            self.at += 1
            if self.peek() == closing:
                self.note(comma, "a trailing comma left out")
        elif sign != closing:
            if after_string or not self._is_string_next():
                raise Broken(self.at, f"a comma or {closing} is missing")
            self.note(self.at, "a missing comma put in")

    def _is_string_next(self) -> bool:
        return self.text[self.at] in "\"'"

    def _read_key(self) -> str:
        if self._is_string_next():
            return self._read_string()
        name = _NAME.match(self.text, self.at, self.end)
        if name is None:
            raise Broken(self.at, "a key is missing")
        self.note(self.at, "a key put in quotes")
        self.at = name.end()
        return name[0]

    def _read_string(self) -> str:
        single = self.text[self.at] == "'"
        found = (_SINGLE if single else _DOUBLE).match(self.text, self.at, self.end)
        if found is None:
            message = "the text breaks off within a string; send it whole"
            raise Broken(self.end, message, truncated=True)
        body = found[1]
        if single:
            self.note(self.at, "single quotes made double")
            body = body.replace("\\'", "'").replace('"', '\\"')
        try:
            value = json.loads(f'"{body}"', strict=False)
        except json.JSONDecodeError as error:
            raise Broken(self.at + error.pos, "a wrong escape in a string") from None
        if any(char < " " for char in body):
            self.note(self.at, "raw line ends or control characters kept in a string")
        self.at = found.end()
        return str(value)

    def _read_scalar(self) -> Any:
        start = self.at
        number = _NUMBER.match(self.text, start, self.end)
        if number is not None:
            self.at = number.end()
            try:
                return (
                    parse_integer if number[0].lstrip("-").isdigit() else parse_decimal
                )(number[0])
            except JsonRefused as refused:
                raise Broken(start, str(refused)) from None
        bare = _BARE.match(self.text, start, self.end)
        if bare is not None:
            self.note(start, "a number that is none made a string")
            self.at = bare.end()
            return bare[0]
        word = _NAME.match(self.text, start, self.end)
        name = word[0] if word else ""
        if word is None or name not in {**_WORDS, **_FOREIGN}:
            raise Broken(start, "not a value")
        self.at = word.end()
        if name in _FOREIGN:
            self.note(start, f"{name} made JSON")
        return _FOREIGN.get(name, _WORDS.get(name))
