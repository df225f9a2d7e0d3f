"""A line of text cut into words; quotation marks keep words together."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAMED = re.compile(r"([A-Za-z][A-Za-z_-]*)(>=|<=|[:<>=])")
# What would be read as something else without quotation marks.
_PLAIN_VALUE = re.compile(r'[^\s",]+')
_PLAIN_TEXT = re.compile(r'[^\s",:<>=]+')


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """`agent:a,b` is a name, an operator and values; a text alone has neither."""

    name: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


def cut_tokens(line: str) -> tuple[list[Token], str]:
    """The tokens, and what is wrong with the line as such."""
    tokens: list[Token] = []
    place = 0
    while place < len(line):
        if line[place].isspace():
            place += 1
            continue
        named = _NAMED.match(line, place)
        if named is None:
            value, place, closed = _read_value(line, place, stops="")
            tokens.append(Token(values=(value,)))
        else:
            values: list[str] = []
            place, closed = named.end(), True
            while True:
                value, place, closed = _read_value(line, place, stops=",")
                values.append(value)
                if not closed or not line.startswith(",", place):
                    break
                place += 1
            tokens.append(
                Token(name=named[1].lower(), operator=named[2], values=tuple(values))
            )
        if not closed:
            return tokens, "A quotation mark is opened and not closed."
    return tokens, ""


def _read_value(line: str, place: int, *, stops: str) -> tuple[str, int, bool]:
    """A value, where it ends, and whether its quotation marks are closed."""
    read: list[str] = []
    while place < len(line):
        sign = line[place]
        if sign == '"':
            end = line.find('"', place + 1)
            if end < 0:
                return "".join(read) + line[place + 1 :], len(line), False
            read.append(line[place + 1 : end])
            place = end + 1
        elif sign.isspace() or sign in stops:
            break
        else:
            read.append(sign)
            place += 1
    return "".join(read), place, True


def write_token(token: Token) -> str:
    """The token as it is typed."""
    if not token.name:
        return _quote(token.values[0], _PLAIN_TEXT)
    values = ",".join(_quote(each, _PLAIN_VALUE) for each in token.values)
    return f"{token.name}{token.operator}{values}"


def _quote(value: str, plain: re.Pattern[str]) -> str:
    return value if plain.fullmatch(value) else f'"{value}"'
