"""Quotes and escapes: taken away as the shell does, and put around a word."""

from __future__ import annotations

import re

from guidance.core.shell_commands.shell.patterns import SEGMENT

_ANSI = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})"
    r"|([0-7]{1,3})|c(.)|(.))",
    re.DOTALL,
)
_NAMED = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}
_LAST_CHARACTER = 0x10FFFF
_PLAIN = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%_-+=:,./"
)


def quote(word: str) -> str:
    """Whatever the word holds, the shell reads it as this word."""
    if word and _PLAIN.issuperset(word):
        return word
    return "'" + word.replace("'", "'\"'\"'") + "'"


def unquote(raw: str) -> str:
    """A word of plain, quoted and escaped segments."""
    quote = raw[0]
    if quote in "'\"" and raw.count(quote) == 2 and raw[-1] == quote:
        return raw[1:-1]
    return "".join(
        [
            first or second or third or fourth
            for first, second, third, fourth in SEGMENT.findall(raw)
        ]
    )


def decode_ansi(text: str) -> str:
    """The escapes of `$'…'`, `echo -e` and `printf`."""
    return _ANSI.sub(_decode_escape, text) if "\\" in text else text


def _decode_escape(match: re.Match[str]) -> str:
    hexadecimal = match[1] or match[2] or match[3]
    if hexadecimal:
        return _decode_character(int(hexadecimal, 16))
    if match[4]:
        return _decode_character(int(match[4], 8))
    if match[5]:
        return _decode_character(ord(match[5]) & 0x1F)
    letter = match[6]
    return _NAMED.get(letter, letter if letter in "\\'\"?" else "\\" + letter)


def _decode_character(code: int) -> str:
    # NUL marks what is unknown, and no shell passes one on.
    return chr(code) if 0 < code <= _LAST_CHARACTER else ""
