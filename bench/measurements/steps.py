"""Steps over HTTP, one server process, beside what its database does by itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from bench.clients.agents import Load, report_steps
from bench.figures import Figure, milliseconds, per_second
from bench.peers.pgbench import pgbench_rate
from bench.peers.plain_sqlite import sqlite_rate
from bench.servers.launch import Site

AGENTS = 64
FEW_AGENTS = 8
ROUNDS = 3  # of which the best counts, for us and for the peer
SECONDS = 4
FEW_SECONDS = 3
PEER_SECONDS = 3
POSTGRES_SHARE = 0.25
SQLITE_RATE = 1_000


def steps_on_postgres(site: AbstractContextManager[Site]) -> Iterator[Figure]:
    """Needs a site with AGENTS runs."""
    with site as here:
        loads, peers = [], []
        for _ in range(ROUNDS):
            loads.append(_load(here, agents=AGENTS, seconds=SECONDS))
            peers.append(
                pgbench_rate(
                    here.database,
                    clients=AGENTS,
                    seconds=PEER_SECONDS,
                    folder=here.folder,
                )
            )
        few = _load(here, agents=FEW_AGENTS, seconds=FEW_SECONDS)
    best, peer = _best(loads), max(peers)
    yield Figure(
        what=f"PostgreSQL: steps over HTTP, {AGENTS} agents",
        figure=per_second(best.rate),
        beside=f"pgbench, {AGENTS} clients: {per_second(peer)}",
        ratio=best.rate / peer,
        target=f"{POSTGRES_SHARE} of pgbench",
        met=best.rate / peer >= POSTGRES_SHARE,
    )
    yield from _details("PostgreSQL", best, few)


def steps_on_sqlite(site: AbstractContextManager[Site]) -> Iterator[Figure]:
    """Needs a site with AGENTS runs."""
    with site as here:
        loads, peers = [], []
        for _ in range(ROUNDS):
            loads.append(_load(here, agents=AGENTS, seconds=SECONDS))
            database = Path(here.database)
            peers.append(sqlite_rate(database, batch=50, seconds=PEER_SECONDS))
        small = sqlite_rate(database, batch=FEW_AGENTS, seconds=PEER_SECONDS)
        few = _load(here, agents=FEW_AGENTS, seconds=FEW_SECONDS)
    best, peer = _best(loads), max(peers)
    yield Figure(
        what=f"SQLite: steps over HTTP, {AGENTS} agents",
        figure=per_second(best.rate),
        beside=f"bare driver, 50 a commit: {per_second(peer)}",
        ratio=best.rate / peer,
        target=per_second(SQLITE_RATE),
        met=best.rate >= SQLITE_RATE,
    )
    yield Figure(
        what=f"SQLite: steps over HTTP, {FEW_AGENTS} agents",
        figure=per_second(few.rate),
        beside=f"bare driver, {FEW_AGENTS} a commit: {per_second(small)}",
        ratio=few.rate / small,
    )
    yield from _details("SQLite", best, few)


def _load(site: Site, *, agents: int, seconds: float) -> Load:
    load = report_steps(site.url, site.stage.runs[:agents], seconds=seconds)
    if load.refused:
        raise RuntimeError(f"{site.profile} refused steps: {dict(load.refused)}")
    return load


def _best(loads: list[Load]) -> Load:
    return max(loads, key=lambda load: load.rate)


def _details(name: str, many: Load, few: Load) -> Iterator[Figure]:
    for agents, load in ((AGENTS, many), (FEW_AGENTS, few)):
        yield Figure(
            what=f"{name}: a step's answer, {agents} agents, p50 and p99",
            figure=", ".join(milliseconds(load.latency(at)) for at in (0.5, 0.99)),
        )
