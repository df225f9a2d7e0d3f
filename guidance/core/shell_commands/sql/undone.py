"""Statements that leave everything as it was: rolled back, or about a temporary table."""

from __future__ import annotations

import re
from collections.abc import Sequence

from guidance.core.shell_commands.limits import ReadingBudget
from guidance.core.shell_commands.sql.statements import SqlFinding
from guidance.core.shell_commands.sql.tokens import split_statements

_CHANGES_ROWS = ("sql-delete-all", "sql-update-all")
_BEGINS = ("BEGIN", "START")
_ENDS = ("COMMIT", "END", "SAVE", "PREPARE")
_DEFINES = frozenset(("CREATE", "ALTER", "DROP", "TRUNCATE", "RENAME", "LOCK"))
_TEMPORARY = frozenset(("TEMP", "TEMPORARY"))
_ONE_TABLE = re.compile(
    r"(?:drop\s+table(?:\s+if\s+exists)?|truncate(?:\s+table)?|delete\s+from)"
    r"\s+[\"`]?(\w+)[\"`]?\s*;?",
    re.IGNORECASE,
)


def list_lasting(
    text: str, found: list[SqlFinding], budget: ReadingBudget, *, undoes_all: bool
) -> list[SqlFinding]:
    """Without those that nothing is left of.

    `undoes_all` if the server takes back definitions as well: others end a transaction
    where a table is created or dropped, so there only changes of rows are taken back.
    """
    lower = text.lower()
    if not found or ("rollback" not in lower and "temp" not in lower):
        return found
    budget.read(len(text))
    undone, temporary = _read(text, undoes_all=undoes_all)
    return [
        each
        for each in found
        if not (
            _is_inside(each, undone)
            and (each.rule in _CHANGES_ROWS or undoes_all)
            and each.rule.startswith("sql-")
        )
        and not _is_about(text[each.start : each.end], temporary)
    ]


def _read(
    text: str, *, undoes_all: bool
) -> tuple[list[tuple[int, int]], dict[str, int]]:
    """The places that are rolled back, and the temporary tables that are created."""
    undone: list[tuple[int, int]] = []
    temporary: dict[str, int] = {}
    begun: int | None = None
    for tokens in split_statements(text, mysql=False, telling=None):
        if not tokens:
            continue
        words = [token.text.upper() for token in tokens[:8]]
        if words[0] in _BEGINS:
            begun = tokens[0].start
        elif words[0] in _ENDS or (words[0] in _DEFINES and not undoes_all):
            begun = None
        elif words[0] == "ROLLBACK" and "TO" not in words[1:3]:
            if begun is not None:
                undone.append((begun, tokens[-1].end))
            begun = None
        if words[0] == "CREATE" and words[1:2] and words[1] in _TEMPORARY:
            name = next((w for w in words[3:] if w not in ("IF", "NOT", "EXISTS")), "")
            temporary[name] = tokens[0].start
    return undone, temporary


def _is_inside(found: SqlFinding, places: Sequence[tuple[int, int]]) -> bool:
    return any(start <= found.start and found.end <= end for start, end in places)


def _is_about(statement: str, tables: dict[str, int]) -> bool:
    match = _ONE_TABLE.fullmatch(statement.strip()[:200]) if tables else None
    return match is not None and match[1].upper() in tables
