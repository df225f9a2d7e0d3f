"""Several processes on one PostgreSQL: how many steps they answer, beside one.

The load generator and the database share the machine with them, so that its cores may be
what ends first: what each of them took of a processor is told, too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from time import perf_counter, process_time

import psycopg

from bench.clients.agents import WARM_UP_SECONDS, Load, report_steps_spread
from bench.figures import Figure, format_rate
from bench.servers.launch import Server, start_another
from bench.servers.process import read_processor_seconds

AGENTS = 64
PROJECTS = (1, 8)
COUNTS = (1, 2, 3)
ROUNDS = 2  # of which the best counts
SECONDS = 4
WANTED, GAIN = 2, 1.5  # so many processes do so much of what one does


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What so many processes answered, and what a step took of a processor, in seconds:
    of theirs, of the database and of the load generator. `cores` were busy with it."""

    load: Load
    web: float
    database: float
    agents: float
    cores: float


def measure_processes(
    server: AbstractContextManager[Server], *, projects: int
) -> Iterator[Figure]:
    """Take a PostgreSQL server with AGENTS runs in so many projects."""
    with ExitStack() as stack:
        first = stack.enter_context(server)
        servers = [first]
        best: dict[int, Share] = {}
        for count in COUNTS:
            while len(servers) < count:
                servers.append(stack.enter_context(start_another(first)))
            rounds = [_run_agents(servers[:count], projects) for _ in range(ROUNDS)]
            best[count] = max(rounds, key=lambda share: share.load.rate)
    name = "1 project" if projects == 1 else f"{projects} projects"
    alone = best[COUNTS[0]].load.rate
    for count, share in best.items():
        gain = share.load.rate / alone
        where = f"{name}, {count} process{'es' * (count > 1)}"
        several = count > 1
        yield Figure(
            label=f"PostgreSQL: steps, {AGENTS} agents, {where}",
            figure=format_rate(share.load.rate),
            compared_with=f"one process: {format_rate(alone)}" if several else "",
            ratio=gain if several else None,
            better="higher" if several else None,
            target=f"{GAIN} of one" if count == WANTED else "",
            met=gain >= GAIN if count == WANTED else None,
        )
        yield Figure(
            label=f"µs a step: processes, database, agents; {where}",
            figure=", ".join(
                f"{each * 1_000_000:.0f}"
                for each in (share.web, share.database, share.agents)
            ),
            compared_with=f"{share.cores:.1f} of {os.cpu_count()} cores busy",
        )


def _run_agents(servers: Sequence[Server], projects: int) -> Share:
    """Each project has agents at each process, as behind a proxy that spreads them."""
    runs = servers[0].contents.runs
    places = [
        (servers[number // projects % len(servers)].url, run)
        for number, run in enumerate(runs)
    ]
    database = servers[0].database
    before = [
        sum(read_processor_seconds(each.pid) for each in servers),
        _read_database_seconds(database),
        process_time(),
        perf_counter(),
    ]
    load = report_steps_spread(places, seconds=SECONDS)
    after = [
        sum(read_processor_seconds(each.pid) for each in servers),
        _read_database_seconds(database),
        process_time(),
        perf_counter(),
    ]
    if load.refusals:
        raise RuntimeError(f"Steps were refused: {dict(load.refusals)}")
    web, base, agents, wall = (b - a for a, b in zip(before, after, strict=True))
    steps = load.answered * (SECONDS + WARM_UP_SECONDS) / SECONDS
    return Share(
        load=load,
        web=web / steps,
        database=base / steps,
        agents=agents / steps,
        cores=(web + base + agents) / wall,
    )


def _read_database_seconds(database: str) -> float:
    """Of all sessions of this database, which is on this machine."""
    with psycopg.connect(database) as link:
        rows = link.execute(
            "SELECT pid FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        ).fetchall()
    return sum(read_processor_seconds(pid) for (pid,) in rows)
