"""Steps over HTTP, one server process, beside what its database does by itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from bench.clients.agents import Load, report_steps
from bench.figures import Figure, format_milliseconds, format_rate
from bench.peers.pgbench import measure_pgbench
from bench.peers.plain_sqlite import measure_sqlite
from bench.servers.launch import Server

AGENTS = 64
FEW_AGENTS = 8
ROUNDS = 3  # of which the best counts, for us and for the peer
SECONDS = 4
FEW_SECONDS = 3
PEER_SECONDS = 3
POSTGRES_SHARE = 0.8
SQLITE_RATE = 3_000
# What a step of so many agents may take, p50.
LIMITS = {FEW_AGENTS: 0.006, 1: 0.003}


def measure_on_postgres(server: AbstractContextManager[Server]) -> Iterator[Figure]:
    """Take a server with AGENTS runs."""
    with server as running:
        loads, peers = [], []
        for _ in range(ROUNDS):
            loads.append(_run_agents(running, agents=AGENTS, seconds=SECONDS))
            peers.append(
                measure_pgbench(
                    running.database,
                    clients=AGENTS,
                    seconds=PEER_SECONDS,
                    folder=running.folder,
                )
            )
        few = _run_agents(running, agents=FEW_AGENTS, seconds=FEW_SECONDS)
        alone = _run_agents(running, agents=1, seconds=FEW_SECONDS)
    best, peer = _get_best(loads), max(peers)
    yield Figure(
        label=f"PostgreSQL: steps over HTTP, {AGENTS} agents",
        figure=format_rate(best.rate),
        compared_with=f"pgbench, {AGENTS} clients: {format_rate(peer)}",
        ratio=best.rate / peer,
        better="higher",
        target=f"{POSTGRES_SHARE} of pgbench",
        met=best.rate / peer >= POSTGRES_SHARE,
    )
    yield from _build_latencies("PostgreSQL", {AGENTS: best, FEW_AGENTS: few, 1: alone})


def measure_on_sqlite(server: AbstractContextManager[Server]) -> Iterator[Figure]:
    """Take a server with AGENTS runs."""
    with server as running:
        loads, peers = [], []
        for _ in range(ROUNDS):
            loads.append(_run_agents(running, agents=AGENTS, seconds=SECONDS))
            database = Path(running.database)
            peers.append(measure_sqlite(database, batch=50, seconds=PEER_SECONDS))
        small = measure_sqlite(database, batch=FEW_AGENTS, seconds=PEER_SECONDS)
        few = _run_agents(running, agents=FEW_AGENTS, seconds=FEW_SECONDS)
        alone = _run_agents(running, agents=1, seconds=FEW_SECONDS)
    best, peer = _get_best(loads), max(peers)
    yield Figure(
        label=f"SQLite: steps over HTTP, {AGENTS} agents",
        figure=format_rate(best.rate),
        compared_with=f"bare driver, 50 a commit: {format_rate(peer)}",
        ratio=best.rate / peer,
        better="higher",
        target=format_rate(SQLITE_RATE),
        met=best.rate >= SQLITE_RATE,
    )
    yield Figure(
        label=f"SQLite: steps over HTTP, {FEW_AGENTS} agents",
        figure=format_rate(few.rate),
        compared_with=f"bare driver, {FEW_AGENTS} a commit: {format_rate(small)}",
        ratio=few.rate / small,
        better="higher",
    )
    yield from _build_latencies("SQLite", {AGENTS: best, FEW_AGENTS: few, 1: alone})


def _run_agents(server: Server, *, agents: int, seconds: float) -> Load:
    load = report_steps(server.url, server.contents.runs[:agents], seconds=seconds)
    if load.refusals:
        raise RuntimeError(f"{server.profile} refused steps: {dict(load.refusals)}")
    return load


def _get_best(loads: list[Load]) -> Load:
    return max(loads, key=lambda load: load.rate)


def _build_latencies(name: str, loads: dict[int, Load]) -> Iterator[Figure]:
    for agents, load in loads.items():
        took, limit = load.get_latency(0.5), LIMITS.get(agents)
        yield Figure(
            label=f"{name}: a step's answer, {_format_count(agents)}, p50 and p99",
            figure=f"{format_milliseconds(took)}, "
            f"{format_milliseconds(load.get_latency(0.99))}",
            target=f"p50 at most {format_milliseconds(limit)}" if limit else "",
            met=took <= limit if limit else None,
        )


def _format_count(agents: int) -> str:
    return "1 agent" if agents == 1 else f"{agents} agents"
