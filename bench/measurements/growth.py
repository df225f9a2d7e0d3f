"""Does a step get slower as work goes on? One agent, before and after a fleet's work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager

import psycopg

from bench.clients.agents import Load, report_steps
from bench.figures import Figure, format_megabytes, format_milliseconds, format_rate
from bench.servers.contents import PreparedRun
from bench.servers.launch import Server

SECONDS = 300
ROUNDS = 3  # of which the best counts, before as after
ALONE_SECONDS = 3
HEAP_ONLY_SHARE = 0.95
SLOWER = 1.25  # so much may one agent's p50 move by itself between two looks
_TABLES = ("ledger_run", "ledger_projecthead", "ledger_shareduse")
_FIGURES = """
SELECT relname, n_live_tup, n_tup_upd, n_tup_hot_upd, pg_total_relation_size(relid)
FROM pg_stat_user_tables WHERE relname = ANY(%s)
"""


def measure_growth(
    server: AbstractContextManager[Server], *, seconds: int
) -> Iterator[Figure]:
    """Take a server on PostgreSQL; the last run is the lonely agent's, the others load."""
    with server as running:
        *fleet, alone = running.contents.runs
        before = _measure_one_agent(running, alone)
        load = _run_agents(running, fleet, seconds=seconds)
        after = _measure_one_agent(running, alone)
        tables = _read_table_statistics(running.database)
    yield Figure(
        label=f"one agent's step after {seconds} s of {len(fleet)} agents, p50",
        figure=format_milliseconds(after),
        compared_with=f"before: {format_milliseconds(before)}",
        ratio=after / before,
        better="lower",
        target=f"at most {SLOWER} of before",
        met=after <= SLOWER * before,
    )
    yield Figure(
        label=f"steps meanwhile, {len(fleet)} agents", figure=format_rate(load.rate)
    )
    for table, (rows, updates, heap_only, size) in tables.items():
        yield Figure(
            label=f"{table}: heap-only updates",
            figure=f"{heap_only:,}",
            compared_with=f"all updates: {updates:,}",
            ratio=heap_only / updates,
            better="higher",
            target=f"{HEAP_ONLY_SHARE} of all",
            met=heap_only >= HEAP_ONLY_SHARE * updates,
        )
        yield Figure(
            label=f"{table}: size with its indexes",
            figure=format_megabytes(size),
            compared_with=f"{rows:,} rows",
        )


def _measure_one_agent(server: Server, run: PreparedRun) -> float:
    """The p50 of its steps."""
    loads = [_run_agents(server, [run], seconds=ALONE_SECONDS) for _ in range(ROUNDS)]
    return min(load.get_latency(0.5) for load in loads)


def _run_agents(server: Server, runs: list[PreparedRun], *, seconds: float) -> Load:
    load = report_steps(server.url, runs, seconds=seconds)
    if load.refusals:
        raise RuntimeError(f"Steps were refused: {dict(load.refusals)}")
    return load


def _read_table_statistics(database: str) -> Mapping[str, tuple[int, int, int, int]]:
    with psycopg.connect(database) as link:
        rows = link.execute(_FIGURES, [list(_TABLES)]).fetchall()
    return {name: (live, every, hot, size) for name, live, every, hot, size in rows}
