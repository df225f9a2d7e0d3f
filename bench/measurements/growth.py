"""Does a step get slower as work goes on? Agents before and after a fleet's work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

from bench.clients.agents import Load, report_steps
from bench.figures import Figure, format_megabytes, format_milliseconds, format_rate
from bench.servers.contents import PreparedRun
from bench.servers.launch import Server
from bench.servers.table_sizes import (
    TableSize,
    list_table_sizes,
    list_updates,
)

MINUTES = 15.0
ROUNDS = 3  # of which the best counts, before as after
ROUND_SECONDS = 3.0
HEAP_ONLY_SHARE = 0.95
SLOWER = 1.25  # so much may a p50 move by itself between two looks
# What is smaller than this at the end is not shown, unless every step changes its rows.
SHOWN_BYTES = 1_000_000
_HOT_TABLES = frozenset({"ledger_run", "ledger_projecthead", "ledger_shareduse"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What agents wait at one moment (p50), and how large each table is."""

    alone: float
    fleet: float
    sizes: dict[str, TableSize]


def measure_growth(
    server: AbstractContextManager[Server],
    *,
    seconds: float,
    round_seconds: float = ROUND_SECONDS,
) -> Iterator[Figure]:
    """Take a server; the last run is the lonely agent's, the others load."""
    with server as running:
        *fleet, alone = running.contents.runs
        first = sum(run.next_step for run in running.contents.runs)
        before = _look(running, alone, fleet, seconds=round_seconds)
        load = _run_agents(running, fleet, seconds=seconds)
        after = _look(running, alone, fleet, seconds=round_seconds, sizes_last=True)
        steps = sum(run.next_step for run in running.contents.runs) - first
        updates = list_updates(running.database, _HOT_TABLES)
    name = running.profile
    for agents, then, now in (
        ("1 agent", before.alone, after.alone),
        (f"{len(fleet)} agents", before.fleet, after.fleet),
    ):
        yield Figure(
            label=f"{name}: a step's answer after the load, {agents}, p50",
            figure=format_milliseconds(now),
            compared_with=f"before: {format_milliseconds(then)}",
            ratio=now / then,
            better="lower",
            target=f"at most {SLOWER} of before",
            met=now <= SLOWER * then,
        )
    yield Figure(
        label=f"{name}: steps meanwhile, {len(fleet)} agents",
        figure=f"{format_rate(load.rate)}, {seconds / 60:.1f} minutes",
    )
    yield from _build_sizes(name, before.sizes, after.sizes, steps)
    for table, (every, heap_only) in updates.items():
        yield Figure(
            label=f"{name}: {table}, heap-only updates",
            figure=f"{heap_only:,}",
            compared_with=f"all updates: {every:,}",
            ratio=heap_only / every,
            better="higher",
            target=f"{HEAP_ONLY_SHARE} of all",
            met=heap_only >= HEAP_ONLY_SHARE * every,
        )


def _look(
    server: Server,
    alone: PreparedRun,
    fleet: list[PreparedRun],
    *,
    seconds: float,
    sizes_last: bool = False,
) -> Look:
    """Sizes are read first at the start and last at the end: all steps are between."""
    sizes = {} if sizes_last else list_table_sizes(server.database)
    waits = [
        min(
            _run_agents(server, runs, seconds=seconds).get_latency(0.5)
            for _ in range(ROUNDS)
        )
        for runs in ([alone], fleet)
    ]
    if sizes_last:
        sizes = list_table_sizes(server.database)
    return Look(alone=waits[0], fleet=waits[1], sizes=sizes)


def _run_agents(server: Server, runs: list[PreparedRun], *, seconds: float) -> Load:
    load = report_steps(server.url, runs, seconds=seconds)
    if load.refusals:
        raise RuntimeError(f"Steps were refused: {dict(load.refusals)}")
    return load


def _build_sizes(
    name: str,
    before: dict[str, TableSize],
    after: dict[str, TableSize],
    steps: int,
) -> Iterator[Figure]:
    """Tables, their indexes beside them, and what a step takes of all."""
    nothing = TableSize(rows=0, indexes=0)
    for table, now in sorted(after.items()):
        then = before.get(table, nothing)
        if table in _HOT_TABLES or now.all >= SHOWN_BYTES:
            yield Figure(
                label=f"{name}: {table}, rows and indexes at the end",
                figure=_format(now),
                compared_with=f"at the start: {_format(then)}",
            )
    grown = sum(each.all for each in after.values()) - sum(
        each.all for each in before.values()
    )
    yield Figure(
        label=f"{name}: bytes on disk for each step, indexes included",
        figure=f"{grown / steps:,.0f}",
        compared_with=f"{steps:,} steps, {format_megabytes(grown)}",
    )


def _format(size: TableSize) -> str:
    return f"{format_megabytes(size.rows)} and {format_megabytes(size.indexes)}"
