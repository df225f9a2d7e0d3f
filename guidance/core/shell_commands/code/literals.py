"""Arguments of a call, where they are written out."""

from __future__ import annotations

import re

from guidance.core.shell_commands.limits import TooMuchError
from guidance.core.shell_commands.shell.quoting import decode_ansi
from guidance.core.shell_commands.shell.tree import UNKNOWN

_LITERAL = re.compile(
    r"\s*([rRbBuUfFq]{0,2})(\"[^\"\\]*(?:\\.[^\"\\]*)*\"|'[^'\\]*(?:\\.[^'\\]*)*'"
    r"|`[^`\\]*(?:\\.[^`\\]*)*`)",
    re.DOTALL,
)
_FIELD = re.compile(r"\{[^{}]*\}|\$\{[^{}]*\}|\#\{[^{}]*\}")
_AFTER = re.compile(r"\s*(.?)", re.DOTALL)
_LIST = re.compile(r"\s*[\[(]")
# Characters of an element that is not a string.
_LONGEST = 2_000


def read_literal(code: str, at: int) -> tuple[str, int] | None:
    """The string at this place and where it ends; what is put into it is UNKNOWN."""
    match = _LITERAL.match(code, at)
    if match is None:
        return None
    prefix, quoted = match[1].lower(), match[2]
    text = quoted[1:-1]
    if "r" not in prefix:
        text = decode_ansi(text)
    if "f" in prefix or quoted[0] == "`" or "#{" in text:
        text = _FIELD.sub(UNKNOWN, text)
    return text, match.end()


def read_first_argument(code: str, at: int) -> str | None:
    """The text of the first argument, UNKNOWN at its end if something is added."""
    found = read_literal(code, at)
    if found is None:
        return None
    text, end = found
    after = _AFTER.match(code, end)
    sign = after[1] if after else ""
    return (
        text
        if sign in (",", ")", "", ";", "}", "]", "\n", "|", "&")
        else text + UNKNOWN
    )


def read_adjacent(code: str, at: int) -> list[str] | None:
    """Texts side by side, as Lisp separates arguments; None if there is only one."""
    found: list[str] = []
    while (literal := read_literal(code, at)) is not None:
        found.append(literal[0])
        at = literal[1]
    return found if len(found) > 1 else None


def read_words(
    code: str, at: int, *, nested: bool = False, opened: bool = False
) -> list[str] | None:
    """The words of a list, or of several arguments; None if it is none."""
    if not opened:
        opening = _LIST.match(code, at)
        if opening is None:
            return None
        at = opening.end()
    found: list[str] = []
    while at < len(code):
        text = read_literal(code, at)
        if text is not None:
            found.append(text[0])
            at = text[1]
        else:
            end = find_end(code, at)
            if end - at == _LONGEST:
                raise TooMuchError("a longer argument than is read")
            name = code[at:end].strip()
            inner = (
                read_words(name, 0, nested=True)
                if name[:1] == "[" and not nested
                else None
            )
            if inner is not None:
                found += inner
            elif name:
                found.append("python" if name == "sys.executable" else UNKNOWN)
            at = end
        after = _AFTER.match(code, at)
        if after is None or after[1] != ",":
            return found
        at = after.end()
    return found


def find_end(code: str, at: int) -> int:
    """Where an element that is not a string ends."""
    depth = 0
    for place in range(at, min(len(code), at + _LONGEST)):
        sign = code[place]
        if sign in "([{":
            depth += 1
        elif sign in ")]}":
            if depth == 0:
                return place
            depth -= 1
        elif sign == "," and depth == 0:
            return place
    return min(len(code), at + _LONGEST)
