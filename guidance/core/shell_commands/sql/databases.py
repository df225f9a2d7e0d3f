"""What is known of the database that a statement goes to, and what it would lose."""

from __future__ import annotations

import re
from dataclasses import dataclass

from guidance.core.shell_commands.disposable.scratch_names import (
    is_address,
    is_development_name,
    is_loopback,
    is_own_host,
    is_scratch_address,
    is_scratch_name,
    split_address,
)
from guidance.core.shell_commands.limits import ReadingBudget
from guidance.core.shell_commands.paths import is_temporary
from guidance.core.shell_commands.sql.statements import SqlFinding, judge_statements
from guidance.core.shell_commands.sql.undone import list_lasting

# Another database than the one that the client was called with.
_GOES_ELSEWHERE = re.compile(
    r"^\s*(?:\\c(?:onnect)?\b|use\s|connect\s|attach\s)", re.IGNORECASE | re.MULTILINE
)
# What belongs to the server as a whole.
_OF_SERVER = re.compile(
    r"\s*drop\s+(?:database|user|role|login|tablespace|server|owned)\b",
    re.IGNORECASE,
)
_DATABASE = re.compile(
    r"\s*drop\s+(?:database|schema)\s+(?:if\s+exists\s+)?[\"`\[]?([\w-]+)[\"`\]]?"
    r"(?:\s+cascade|\s+(?:with\s*)?\(\s*force\s*\))?\s*(?:;\s*)?",
    re.IGNORECASE,
)
# In servers where a schema is a database.
_OTHERS = re.compile(r"[\w`\]]\s*\.\s*[\w`\[]|\bdrop\s+schema\b", re.IGNORECASE)
_LONGEST = 32_768
_ROWS = ("sql-delete-all", "sql-update-all", "sql-truncate")


@dataclass(frozen=True, slots=True)
class Database:
    """`is_test`: made for tests. `is_local`: one developer's, on their own machine."""

    is_test: bool = False
    is_local: bool = False
    # Definitions are part of a transaction, as in PostgreSQL and SQLite.
    undoes_all: bool = False
    # It ends with the program: whatever a statement is, nobody can miss it.
    in_memory: bool = False
    # `a.b` is a table of another database, as in MySQL.
    qualifies: bool = False

    def list_losses(self, text: str, budget: ReadingBudget) -> list[SqlFinding]:
        found = judge_statements(text, budget)
        if not found:
            return found
        found = [
            each
            for each in list_lasting(text, found, budget, undoes_all=self.undoes_all)
            if not _drops_test_database(text[each.start : each.end])
        ]
        if not (self.is_test or self.is_local) or _GOES_ELSEWHERE.search(text):
            return found
        return [each for each in found if not self._bears(each, text)]

    def _bears(self, found: SqlFinding, text: str) -> bool:
        """May this one lose that?"""
        statement = text[found.start : found.end]
        if self.qualifies and _OTHERS.search(statement):
            return False
        if self.in_memory and found.rule == "opaque-sql":
            return True
        if self.is_test and found.rule.startswith("sql-"):
            return _OF_SERVER.match(statement) is None
        return found.rule in _ROWS


ANY_DATABASE = Database()
# Where a program opens a database, and the file or address that it names.
_OPENS = re.compile(
    r"\b(?:sqlite3\.connect|aiosqlite\.connect|duckdb\.connect|new\s+Database"
    r"|new\s+DatabaseSync|create_engine)\(\s*[\"'`]([^\"'`\n]{0,200})[\"'`]"
    r"|[\"'`]([a-z][a-z0-9+]{2,20}://[^\"'`\s]{1,200})[\"'`]"
)


def describe_named_databases(code: str) -> Database:
    """Of a program, where all that it names are for tests, or a developer's own."""
    named = [found[1] or found[2] or "" for found in _OPENS.finditer(code[:_LONGEST])]
    named = [each for each in named if not each.startswith("http")]
    if not named or len(code) > _LONGEST:
        return ANY_DATABASE
    if all(map(_is_for_tests, named)):
        in_memory = all(name in (":memory:", "") for name in named)
        return Database(is_test=True, undoes_all=True, in_memory=in_memory)
    if all(
        is_development_name(name) and is_loopback(host)
        for host, name in map(split_address, named)
    ):
        return Database(is_local=True)
    return ANY_DATABASE


def _is_for_tests(name: str) -> bool:
    if is_address(name):
        return is_scratch_address(name)
    return name in (":memory:", "") or is_temporary(name)


def _drops_test_database(statement: str) -> bool:
    match = _DATABASE.fullmatch(statement[:200])
    return match is not None and is_scratch_name(match[1])


def describe_database(
    host: str, name: str, *, undoes_all: bool, qualifies: bool
) -> Database:
    """By the name that a client was given; it may be a whole address."""
    if is_address(name):
        is_test = is_scratch_address(name)
        host, name = split_address(name)
    else:
        is_test = is_scratch_name(name) and is_own_host(host)
    return Database(
        is_test=is_test,
        is_local=is_development_name(name) and is_loopback(host),
        undoes_all=undoes_all,
        qualifies=qualifies,
    )
