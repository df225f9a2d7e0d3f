"""SQL cut into statements and tokens, whatever the dialect.

Strings, quoted names, comments and dollar quotes are told apart, and nothing else is
assumed: a statement that no parser would accept is still read as far as it goes.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from guidance.core.shell_commands.shell.tree import UNKNOWN

WORD, STRING, NAME, NUMBER = "word", "string", "name", "number"
# BODY is a dollar-quoted text, BROKEN a quote that is never closed.
SIGN, BODY, BROKEN = "sign", "body", "broken"


class SqlToken(NamedTuple):
    """`text` is upper case for words, and without quotes for names and strings."""

    kind: str
    text: str
    start: int
    end: int


# A doubled quote does not end what it stands in.
_ESCAPED = r"'[^'\\]*(?:(?:\\.|'')[^'\\]*)*(?:'(?!')|\Z)"
_STANDARD = rf"[eE]{_ESCAPED}|[nNbBxX]?'[^']*(?:''[^']*)*(?:'(?!')|\Z)"
_ESCAPING = rf"[nNeEbBxX]?{_ESCAPED}"
# MySQL runs what stands in /*! … */, so only its beginning and end are comments.
_COMMENT = r"--[^\n]*|/\*!\d*|\*/|/\*(?!!)[^*]*(?:\*(?!/)[^*]*)*(?:\*/|\Z)"
_BODY = r"\$(?P<tag>[A-Za-z_]\w*|)\$(?s:.*?)(?:\$(?P=tag)\$|\Z)"
_NAME = (
    r"\"[^\"]*(?:\"\"[^\"]*)*(?:\"(?!\")|\Z)|`[^`]*(?:``[^`]*)*(?:`(?!`)|\Z)"
    r"|\[[A-Za-z_][^\[\]\n]{0,127}\]"
)


# MySQL's alone: elsewhere `#work` is a table that stands for itself, and `#>` a sign.
_MYSQL_COMMENT = (
    rf"{_COMMENT}|(?<!from )(?<!join )(?<!into )(?<!table )(?<!update )(?<!exists )"
    r"(?<!, )(?<![,.])#(?![>-])[^\n]*"
)


def _compile_tokens(string: str, comment: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?P<string>{string})|(?P<comment>{comment})|(?P<body>{_BODY})|(?P<name>{_NAME})"
        rf"|(?P<number>\d[\w.]*)"
        rf"|(?P<word>[^\W\d][\w$]*|[@:#][\w$@{UNKNOWN}]+|{UNKNOWN}+)"
        r"|(?P<sign><=>|<>|!=|<=|>=|==|\|\||::|[^\s\w])",
        re.DOTALL | re.IGNORECASE,
    )


def _compile_ends(string: str, comment: str) -> re.Pattern[str]:
    """Only what may hold a semicolon, and semicolons."""
    found = rf"(;)|{string}|{comment}|{_BODY}|{_NAME}"
    return re.compile(found, re.DOTALL | re.IGNORECASE)


_PATTERNS = {
    mysql: (_compile_ends(string, comment), _compile_tokens(string, comment))
    for mysql, string, comment in (
        (False, _STANDARD, _COMMENT),
        (True, _ESCAPING, _MYSQL_COMMENT),
    )
}
# Tokens that are looked at in one text; a dump of rows has few that matter.
MAX_TOKENS = 5_000


def split_statements(
    text: str, *, mysql: bool, telling: Sequence[int] | None
) -> Iterator[list[SqlToken]]:
    """Token lists of the statements that hold one of the `telling` places, or of all.

    `mysql`: backslashes escape quotes, and a comment may begin with #.
    """
    ends, pattern = _PATTERNS[mysql]
    count = start = 0
    places = [match.start() for match in ends.finditer(text) if match[1]]
    for end in [*places, len(text)]:
        if telling is None or bisect_left(telling, start) < bisect_left(telling, end):
            found = _cut_tokens(text, start, end, pattern)
            count += len(found)
            if count > MAX_TOKENS:
                yield [SqlToken(WORD, UNKNOWN, start, len(text))]
                return
            yield found
        start = end + 1


def _cut_tokens(
    text: str, start: int, end: int, pattern: re.Pattern[str]
) -> list[SqlToken]:
    found: list[SqlToken] = []
    for match in pattern.finditer(text, start, end):
        kind = match.lastgroup or ""
        raw = match[0]
        if kind == "word":
            raw = raw.upper()
        elif kind == "comment":
            continue
        elif kind == "name" or kind == "string":
            opening = raw.find("[" if raw[-1] == "]" else raw[-1])
            if raw[-1] not in "'\"`]" or opening == len(raw) - 1:
                kind = BROKEN
            raw = raw[opening + 1 : -1].replace("''", "'")
        found.append(SqlToken(kind, raw, match.start(), match.end()))
        if len(found) > MAX_TOKENS:
            break
    return found
