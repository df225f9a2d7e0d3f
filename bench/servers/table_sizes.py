"""How large tables and their indexes are, and how their rows were updated."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import psycopg

_POSTGRES_SIZES = """
SELECT relname, pg_table_size(relid), pg_indexes_size(relid) FROM pg_stat_user_tables
"""
_POSTGRES_UPDATES = """
SELECT relname, n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables
WHERE relname = ANY(%s) AND n_tup_upd > 0
"""
# Every page of a table and of its indexes, as SQLite itself counts them.
_SQLITE_SIZES = """
SELECT part.tbl_name, sum(pages.pgsize * (part.type = 'table')),
  sum(pages.pgsize * (part.type = 'index'))
FROM dbstat AS pages JOIN sqlite_schema AS part ON part.name = pages.name
WHERE pages.aggregate = TRUE GROUP BY part.tbl_name
"""
_POSTGRES_PARTS = """
SELECT relname, pg_table_size(oid) FROM pg_class
WHERE relkind IN ('r', 'i') AND relnamespace = 'public'::regnamespace
"""
_SQLITE_PARTS = "SELECT name, pgsize FROM dbstat WHERE aggregate = TRUE"
WHOLE_FILE = "the whole file"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSize:
    """In bytes."""

    rows: int
    indexes: int

    @property
    def all(self) -> int:
        return self.rows + self.indexes


def list_table_sizes(database: str) -> dict[str, TableSize]:
    """By table; of SQLite only the whole file, where it was built without `dbstat`."""
    if not is_sqlite(database):
        with psycopg.connect(database) as link:
            found = link.execute(_POSTGRES_SIZES).fetchall()
        return {name: TableSize(rows=rows, indexes=more) for name, rows, more in found}
    with closing(sqlite3.connect(database)) as link:
        if not _has_page_statistics(link):
            size = sum(path.stat().st_size for path in _list_files(database))
            return {WHOLE_FILE: TableSize(rows=size, indexes=0)}
        found = link.execute(_SQLITE_SIZES).fetchall()
    return {name: TableSize(rows=rows, indexes=more) for name, rows, more in found}


def list_part_sizes(database: str) -> dict[str, int]:
    """The same in bytes by table and by index, each under its own name."""
    if not is_sqlite(database):
        with psycopg.connect(database) as link:
            return dict(link.execute(_POSTGRES_PARTS).fetchall())
    with closing(sqlite3.connect(database)) as link:
        if not _has_page_statistics(link):
            size = sum(path.stat().st_size for path in _list_files(database))
            return {WHOLE_FILE: size}
        return dict(link.execute(_SQLITE_PARTS).fetchall())


def list_updates(database: str, tables: Collection[str]) -> dict[str, tuple[int, int]]:
    """PostgreSQL's counts by table: all updates, and those that touched no index."""
    if is_sqlite(database):
        return {}
    with psycopg.connect(database) as link:
        rows = link.execute(_POSTGRES_UPDATES, [list(tables)]).fetchall()
    return {name: (every, heap_only) for name, every, heap_only in rows}


def is_sqlite(database: str) -> bool:
    """A path, not a URL."""
    return "://" not in database


def _has_page_statistics(link: sqlite3.Connection) -> bool:
    options = {name for (name,) in link.execute("PRAGMA compile_options")}
    return "ENABLE_DBSTAT_VTAB" in options


def _list_files(database: str) -> list[Path]:
    """The file and its log."""
    files = [Path(database), Path(f"{database}-wal")]
    return [path for path in files if path.exists()]
