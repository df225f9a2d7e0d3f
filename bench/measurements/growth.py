"""Does a step get slower as work goes on? One agent, before and after a fleet's work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager

import psycopg

from bench.clients.agents import Load, report_steps
from bench.figures import Figure, megabytes, milliseconds, per_second
from bench.servers.contents import StagedRun
from bench.servers.launch import Site

SECONDS = 300
ROUNDS = 3  # of which the best counts, before as after
ALONE_SECONDS = 3
HEAP_ONLY_SHARE = 0.95
SLOWER = 1.25  # so much may one agent's p50 move by itself between two looks
_TABLES = ("ledger_run", "ledger_projecthead")
_FIGURES = """
SELECT relname, n_live_tup, n_tup_upd, n_tup_hot_upd, pg_total_relation_size(relid)
FROM pg_stat_user_tables WHERE relname = ANY(%s)
"""


def growing(site: AbstractContextManager[Site], *, seconds: int) -> Iterator[Figure]:
    """Needs a site on PostgreSQL; the last run is the lonely agent's, the others load."""
    with site as here:
        *fleet, alone = here.stage.runs
        before = _one_agent(here, alone)
        load = _load(here, fleet, seconds=seconds)
        after = _one_agent(here, alone)
        tables = _look(here.database)
    yield Figure(
        what=f"one agent's step after {seconds} s of {len(fleet)} agents, p50",
        figure=milliseconds(after),
        beside=f"before: {milliseconds(before)}",
        ratio=after / before,
        target=f"at most {SLOWER} of before",
        met=after <= SLOWER * before,
    )
    yield Figure(
        what=f"steps meanwhile, {len(fleet)} agents", figure=per_second(load.rate)
    )
    for table, (rows, updates, heap_only, size) in tables.items():
        yield Figure(
            what=f"{table}: heap-only updates",
            figure=f"{heap_only:,}",
            beside=f"all updates: {updates:,}",
            ratio=heap_only / updates,
            target=f"{HEAP_ONLY_SHARE} of all",
            met=heap_only >= HEAP_ONLY_SHARE * updates,
        )
        yield Figure(
            what=f"{table}: size with its indexes",
            figure=megabytes(size),
            beside=f"{rows:,} rows",
        )


def _one_agent(site: Site, run: StagedRun) -> float:
    """The p50 of its steps."""
    loads = [_load(site, [run], seconds=ALONE_SECONDS) for _ in range(ROUNDS)]
    return min(load.latency(0.5) for load in loads)


def _load(site: Site, runs: list[StagedRun], *, seconds: float) -> Load:
    load = report_steps(site.url, runs, seconds=seconds)
    if load.refused:
        raise RuntimeError(f"Steps were refused: {dict(load.refused)}")
    return load


def _look(database: str) -> Mapping[str, tuple[int, int, int, int]]:
    with psycopg.connect(database) as link:
        rows = link.execute(_FIGURES, [list(_TABLES)]).fetchall()
    return {name: (live, every, hot, size) for name, live, every, hot, size in rows}
