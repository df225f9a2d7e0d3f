"""Steps over HTTP that agents report many at a time, one server process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager

from bench.clients.agents import BATCH, Load, report_batches
from bench.figures import Figure, format_milliseconds, format_rate
from bench.servers.launch import Server

AGENTS = (8, 64)
ROUNDS = 2  # of which the best counts
SECONDS = 4
RATE = 12_000


def measure_batches(server: AbstractContextManager[Server]) -> Iterator[Figure]:
    """Take a server with as many runs as the most agents."""
    with server as running:
        best = {agents: _run_agents(running, agents) for agents in AGENTS}
    for agents, load in best.items():
        where = f"{running.profile}: steps, {BATCH} a request, {agents} agents"
        yield Figure(
            label=where,
            figure=format_rate(load.rate),
            compared_with=format_rate(RATE),
            ratio=load.rate / RATE,
            better="higher",
            target=format_rate(RATE),
            met=load.rate >= RATE,
        )
        yield Figure(
            label=f"{where}, an answer, p50 and p99",
            figure=", ".join(
                format_milliseconds(load.get_latency(at)) for at in (0.5, 0.99)
            ),
        )


def _run_agents(server: Server, agents: int) -> Load:
    runs = server.contents.runs[:agents]
    loads = [report_batches(server.url, runs, seconds=SECONDS) for _ in range(ROUNDS)]
    for load in loads:
        if load.refusals:
            raise RuntimeError(f"{server.profile} refused: {dict(load.refusals)}")
    return max(loads, key=lambda load: load.rate)
