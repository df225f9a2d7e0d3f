"""Database clients: which of their arguments are SQL, and which database they name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.disposable.scratch_names import is_development_name
from guidance.core.shell_commands.program_options import (
    find_operands,
    find_option_value,
    read_attached_value,
)
from guidance.core.shell_commands.shell.tree import Variable, Word
from guidance.core.shell_commands.sql.databases import Database, describe_database
from guidance.core.shell_commands.word_lists import split_names


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """`flags` take SQL; from the operand `first` on, operands are SQL as well."""

    flags: tuple[str, ...] = ()
    taking: tuple[str, ...] = ()
    first: int = -1
    reads: bool = True
    # Options that name a file of statements.
    files: tuple[str, ...] = ()
    # Options that name the host and the database; the first operand may do so as well.
    hosts: tuple[str, ...] = ()
    databases: tuple[str, ...] = ()


_PG = (
    *("-h", "-p", "-U", "-d", "-f", "-v", "-o", "-L", "-F", "-P", "-R", "-T"),
    *("--host", "--port", "--username", "--dbname", "--file", "--variable", "--set"),
)
_MYSQL = ("-h", "-P", "-u", "-D", "-S", "--host", "--port", "--user", "--database")
_HOSTS = ("-h", "--host")
# Their servers take back definitions together with rows.
_UNDOING = split_names("psql pgcli usql sqlite3 sqlite duckdb litecli cockroach")
_QUALIFYING = split_names("mysql mycli clickhouse-client clickhouse")

CLIENTS: Mapping[str, Client] = {
    "psql": Client(
        flags=("-c", "--command"),
        taking=_PG,
        files=("-f", "--file"),
        hosts=_HOSTS,
        databases=("-d", "--dbname"),
    ),
    "pgcli": Client(
        flags=("-c", "--command", "-e", "--execute"),
        taking=_PG,
        hosts=_HOSTS,
        databases=("-d", "--dbname"),
    ),
    "cbq": Client(flags=("-s", "--script"), reads=False),
    "mysql": Client(
        flags=("-e", "--execute", "--init-command"),
        taking=_MYSQL,
        hosts=_HOSTS,
        databases=("-D", "--database"),
    ),
    "mycli": Client(
        flags=("-e", "--execute"),
        taking=_MYSQL,
        hosts=_HOSTS,
        databases=("-D", "--database"),
    ),
    "sqlite3": Client(
        flags=("-cmd",), taking=("-init", "-separator", "-nullvalue", "-vfs"), first=1
    ),
    "sqlite": Client(first=1),
    "duckdb": Client(flags=("-c", "-s", "-cmd"), first=1),
    "litecli": Client(flags=("-e", "--execute")),
    "sqlcmd": Client(
        flags=("-Q", "-q"),
        taking=("-S", "-U", "-P", "-d", "-i", "-o", "-v"),
        files=("-i",),
    ),
    "mssql-cli": Client(flags=("-Q", "-q"), taking=("-S", "-U", "-P", "-d", "-i")),
    "usql": Client(flags=("-c", "--command")),
    "sqlplus": Client(),
    "sql": Client(),
    "clickhouse-client": Client(flags=("-q", "--query"), taking=("-h", "--host", "-u")),
    "clickhouse": Client(flags=("-q", "--query")),
    "cqlsh": Client(flags=("-e", "--execute")),
    "cockroach": Client(flags=("-e", "--execute"), reads=True),
    "snowsql": Client(flags=("-q", "--query")),
    "snow": Client(flags=("-q", "--query")),
    "beeline": Client(flags=("-e",), taking=("-u", "-n", "-p", "-f")),
    "hive": Client(flags=("-e",)),
    "impala-shell": Client(flags=("-q", "--query")),
    "spark-sql": Client(flags=("-e",)),
    "trino": Client(flags=("--execute",)),
    "presto": Client(flags=("--execute",)),
    "vertica": Client(flags=("-c",)),
    "vsql": Client(flags=("-c",)),
    "db2": Client(first=0),
    "isql": Client(),
    "bteq": Client(),
    "bq": Client(first=1, reads=True),
    "influx": Client(flags=("-execute",), reads=False),
    "sqlite-utils": Client(first=2, reads=False),
    "datasette": Client(flags=("--sql",), reads=False),
    "osqueryi": Client(first=0, reads=False),
    "wrangler": Client(flags=("--command",), reads=False),
    "turso": Client(first=3, reads=True),
    "libsql": Client(first=1),
    "prisma": Client(reads=True),
    "invoke-sqlcmd": Client(flags=("-Query", "-query", "-Q"), reads=False),
}

# Databases that are one file each.
FILES = ("sqlite3", "sqlite", "duckdb", "litecli")
_TEST_VARIABLE = re.compile(
    r"TEST_(?:DATABASE|DB|PG|POSTGRES|MYSQL)\w*|(?:DATABASE|DB|PG)_(?:URL_)?TEST(?:_URL)?"
)


def find_database(call: ProgramCall) -> Database:
    """As far as the client was told; settings of the environment may say more."""
    kind = CLIENTS.get(call.name)
    undoes_all, qualifies = call.name in _UNDOING, call.name in _QUALIFYING
    if call.name == "wrangler":
        return Database(is_test="--local" in call.argv)
    if call.name in FILES:
        places = find_operands(call.argv, taking=CLIENTS[call.name].taking)
        own = bool(places) and is_development_name(
            call.argv[places[0]].rpartition("/")[2]
        )
        return Database(is_local=own, undoes_all=True)
    if kind is None or not kind.databases:
        return Database(undoes_all=undoes_all)
    if any(map(_is_test_variable, call.simple.words)):
        return Database(is_test=True, undoes_all=undoes_all, qualifies=qualifies)
    host = find_value(call.argv, kind.hosts)
    name = find_value(call.argv, kind.databases)
    places = find_operands(call.argv, taking={*kind.taking, *kind.flags})
    name = name or (call.argv[places[0]] if places else "")
    return describe_database(host, name, undoes_all=undoes_all, qualifies=qualifies)


def _is_test_variable(word: str | Word) -> bool:
    """`psql "$TEST_DATABASE_URL"`: nobody knows it, but it says what it is."""
    return (
        isinstance(word, Word)
        and len(word.pieces) == 1
        and isinstance(word.pieces[0], Variable)
        and _TEST_VARIABLE.fullmatch(word.pieces[0].name) is not None
    )


def find_value(argv: list[str], flags: tuple[str, ...]) -> str:
    for word in argv[1:]:
        value = read_attached_value(word, *flags) if word not in flags else None
        if value is not None:
            return value
    place = find_option_value(argv, *flags)
    return argv[place] if place else ""
