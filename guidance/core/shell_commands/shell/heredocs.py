"""Here-documents: the lines between a redirection and its delimiter."""

from __future__ import annotations

import re

from guidance.core.shell_commands.origin import cut_origin
from guidance.core.shell_commands.shell.cursor import Cursor
from guidance.core.shell_commands.shell.tree import Heredoc
from guidance.core.shell_commands.shell.words import read_quoted

_DELIMITER = re.compile(
    r"""[ \t]*((?:[^ \t\r\n;|&<>()'"\\]|'[^'\n]*'|"[^"\n]*"|\\.)+)"""
)
_QUOTING = re.compile(r"""['"\\]""")


def open_heredoc(cursor: Cursor, *, operator: str) -> Heredoc | None:
    """After `<<`: its text follows after this line."""
    match = _DELIMITER.match(cursor.text, cursor.at)
    if match is None:
        cursor.fail("a here-document without a delimiter")
        return None
    cursor.budget.count_step(4)
    cursor.at = match.end()
    delimiter = _QUOTING.sub("", match[1])
    heredoc = Heredoc(delimiter, strip=operator == "<<-", expands=delimiter == match[1])
    cursor.heredocs.append(heredoc)
    return heredoc


def close_heredocs(cursor: Cursor) -> None:
    """At the end of a line: the texts of the heredocs opened in it, one by one."""
    for heredoc in cursor.heredocs:
        _read_body(cursor, heredoc)
        if heredoc.expands:
            _expand(cursor, heredoc)
    cursor.heredocs.clear()


def _read_body(cursor: Cursor, heredoc: Heredoc) -> None:
    text = cursor.text
    heredoc.start = heredoc.end = cursor.at
    # The line end before the text counts: its first line may be the delimiter.
    at = cursor.at - 1
    sought = "\n" if heredoc.strip else "\n" + heredoc.delimiter
    while (at := text.find(sought, at)) >= 0:
        cursor.budget.count_step()
        end = text.find("\n", at + 1)
        end = len(text) if end < 0 else end
        line = text[at + 1 : end].rstrip("\r")
        if (line.lstrip("\t") if heredoc.strip else line) == heredoc.delimiter:
            heredoc.end = at + 1
            cursor.bodies.append((heredoc.start, heredoc.end))
            cursor.at = min(end + 1, len(text))
            return
        at = end
    heredoc.end = cursor.at = len(text)
    cursor.bodies.append((heredoc.start, heredoc.end))
    cursor.trouble = cursor.trouble or "a here-document is not closed"


def _expand(cursor: Cursor, heredoc: Heredoc) -> None:
    body = cursor.text[heredoc.start : heredoc.end]
    if "$" not in body and "`" not in body:
        return
    inner = Cursor(
        body,
        cut_origin(cursor.origin, heredoc.start, heredoc.end),
        cursor.budget,
        cursor.script,
        depth=cursor.depth,
    )
    inner.go_deeper()
    heredoc.pieces = tuple(read_quoted(inner, whole=True))
    cursor.trouble = cursor.trouble or inner.trouble
