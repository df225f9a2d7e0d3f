"""Commands of cmd and PowerShell: cut apart outside quotes, words by blanks.

Not a parser of either: loops and conditions are seen through, blocks are commands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from guidance.core.shell_commands.limits import ReadingBudget, TooMuchError

_TOKEN = re.compile(
    r"""
      (?P<quoted>"[^"`]*(?:`.[^"`]*)*"|'[^']*')
    | (?P<end>&&|\|\||[|&;\n\r(){}])
    | (?P<blank>(?:[`^]?[ \t,])+|[`^]\r?\n)
    | (?P<word>[^\s"'|&;(){},`^]+)
    | [`^](?P<escaped>.)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
# Words that stand before a command.
_BEFORE = frozenset(("do", "else", "call", "@", "&", ".", "%", "foreach-object"))
_MOST = 1_000

Word = tuple[str, int, int]


def split_commands(
    text: str, budget: ReadingBudget
) -> Iterator[tuple[list[Word], bool]]:
    """Words with their places, command by command, and whether it reads a pipe."""
    words: list[Word] = []
    parts: list[str] = []
    start = 0
    count = 0
    piped = False
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind in ("end", "blank"):
            budget.count_step()
            if parts:
                words.append(("".join(parts), start, match.start()))
                parts = []
            if kind == "end" and not words:
                piped = piped or match[0] == "|"
            elif kind == "end":
                for each in _list_inner_commands(words):
                    yield each, piped
                words = []
                count += 1
                if count > _MOST:
                    raise TooMuchError(f"more than {_MOST:,} commands")
                # What a block works on comes through the pipe before it.
                piped = match[0] == "|" or (piped and match[0] == "{")
            continue
        if not parts:
            start = match.start()
        elif kind != "word":
            budget.count_step()
        piece = match[0]
        parts.append(
            piece[1:-1]
            if kind == "quoted"
            else match["escaped"] or piece
            if kind == "escaped"
            else piece
        )
    if parts:
        words.append(("".join(parts), start, len(text)))
    if words:
        for each in _list_inner_commands(words):
            yield each, piped


def _list_inner_commands(words: list[Word]) -> Iterator[list[Word]]:
    """The command, and those behind `if exist x`, `do`, an assignment."""
    index = 0
    while index < len(words) - 1:
        word = words[index][0].lower().lstrip("@")
        if word in _BEFORE or not word:
            index += 1
        elif word == "if" and len(words) > index + 3:
            index += 3 if words[index + 1][0].lower() in ("exist", "defined") else 2
            if words[index - 2][0].lower() == "not":
                index += 1
        elif words[index + 1][0] == "=" and len(words) > index + 2:
            index += 2
        else:
            break
    first, start, end = words[index]
    yield [(first.lstrip("@") or first, start, end), *words[index + 1 :]]
    for place in range(index + 1, len(words) - 1):
        if words[place][0].lower() in ("do", "else"):
            yield words[place + 1 :]
            return
