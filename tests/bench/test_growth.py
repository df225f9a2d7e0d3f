"""Sizes and answers before and after a load, on whichever database the server has."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
from django.db import connection

from accounts.models import Project
from bench.clients.agents import Load
from bench.measurements import bytes_on_disk, growth
from bench.measurements.bytes_on_disk import measure_bytes
from bench.measurements.growth import measure_growth
from bench.servers import table_sizes
from bench.servers.contents import Contents, PreparedRun
from bench.servers.launch import Server
from bench.servers.table_sizes import (
    WHOLE_FILE,
    list_part_sizes,
    list_table_sizes,
    list_updates,
)


def build_database_name() -> str:
    """Of the tests' database, as a bench names it."""
    given = connection.get_connection_params()
    if connection.vendor == "sqlite":
        return str(given["database"])
    host, port = given.get("host", "localhost"), given.get("port", 5432)
    person = quote(given.get("user", ""), safe="")
    secret = quote(given.get("password", ""), safe="")
    return f"postgresql://{person}:{secret}@{host}:{port}/{given['dbname']}"


def test_tables_and_their_indexes_have_sizes_on_both_databases(
    project: Project,
) -> None:
    sizes = list_table_sizes(build_database_name())
    assert sizes["ledger_entry"].indexes > 0
    assert sizes["accounts_project"].all > sizes["accounts_project"].indexes > 0
    parts = list_part_sizes(build_database_name())
    assert parts["accounts_project"] == sizes["accounts_project"].rows
    assert parts["entry_step_once"] > 0
    updates = list_updates(build_database_name(), {"ledger_run"})
    assert connection.vendor == "postgresql" or updates == {}


def test_without_page_statistics_the_file_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_file(tmp_path)
    monkeypatch.setattr(table_sizes, "_has_page_statistics", lambda _link: False)
    sizes = list_table_sizes(str(path))
    assert sizes[WHOLE_FILE].all == path.stat().st_size
    assert list_part_sizes(str(path)) == {WHOLE_FILE: path.stat().st_size}


def test_bytes_are_told_for_each_step_by_table_and_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_file(tmp_path)

    def send(
        _url: str, _runs: Sequence[PreparedRun], steps: int, *, with_keys: bool
    ) -> None:
        with closing(sqlite3.connect(path)) as link, link:
            rows = [[f"{number:01000}"] for number in range(steps)]
            link.executemany("INSERT INTO ledger_run VALUES (?)", rows)

    monkeypatch.setattr(bytes_on_disk, "_send_steps", send)
    every, with_keys, *parts = measure_bytes(start_server(path, runs=1), steps=100)
    told = {each.label: int(each.figure.replace(",", "")) for each in parts}
    assert told.keys() == {"SQLite: ledger_run", "SQLite: by_memory"}
    assert int(every.figure.replace(",", "")) == pytest.approx(
        sum(told.values()), abs=2
    )
    assert every.met is False
    assert int(with_keys.figure.replace(",", "")) > 1_000


def test_a_load_shows_answers_and_sizes_at_its_start_and_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_file(tmp_path)
    # By the number of agents: three looks, the load by all of the fleet, three looks.
    waits = {
        1: iter([0.002] * 3 + [0.003] * 3),
        2: iter([0.02] * 3 + [0.1, 0.02, 0.021, 0.03]),
    }

    def report(_url: str, runs: Sequence[PreparedRun], *, seconds: float) -> Load:
        with closing(sqlite3.connect(path)) as link, link:
            link.executemany("INSERT INTO ledger_run VALUES (?)", [["x" * 1000]] * 100)
        for run in runs:
            run.next_step += 10
        return Load(
            answered=1,
            seconds=seconds,
            latencies=[next(waits[len(runs)])],
            refusals=Counter(),
        )

    monkeypatch.setattr(growth, "report_steps", report)
    figures = {
        figure.label: figure
        for figure in measure_growth(start_server(path, runs=3), seconds=6.0)
    }
    alone = figures["SQLite: a step's answer after the load, 1 agent, p50"]
    fleet = figures["SQLite: a step's answer after the load, 2 agents, p50"]
    assert (alone.figure, alone.compared_with) == ("3.0 ms", "before: 2.0 ms")
    assert (alone.met, fleet.met) == (False, True)
    size = figures["SQLite: ledger_run, rows and indexes at the end"]
    assert size.figure != size.compared_with.removeprefix("at the start: ")
    each = figures["SQLite: bytes on disk for each step, indexes included"]
    # Six looks by one, six and the load by two, ten steps each.
    assert each.compared_with.startswith("200 steps")


def make_file(folder: Path) -> Path:
    path = folder / "checkrail.sqlite3"
    with closing(sqlite3.connect(path)) as link, link:
        link.execute("CREATE TABLE ledger_run (memory)")
        link.execute("CREATE INDEX by_memory ON ledger_run (memory)")
    return path


@contextmanager
def start_server(database: Path, *, runs: int) -> Iterator[Server]:
    prepared = [PreparedRun(code=str(number), key="key") for number in range(runs)]
    yield Server(
        profile="SQLite",
        url="http://checkrail.invalid",
        pid=0,
        database=str(database),
        folder=database.parent,
        contents=Contents(runs=prepared, reviews=[], token="token", strangers=["key"]),
        environment={},
    )
