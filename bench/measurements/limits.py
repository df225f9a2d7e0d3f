"""Steps of one tree under every limit that runs can share, beside steps without any."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager

from bench.clients.agents import Load, report_steps
from bench.figures import Figure, format_rate
from bench.servers.contents import PreparedRun
from bench.servers.launch import Server

AGENTS = 64
ROUNDS = 4  # of which the best counts, for both
SECONDS = 4
SHARE = 0.9


def measure_limits(server: AbstractContextManager[Server]) -> Iterator[Figure]:
    """Take a server with AGENTS runs and as many children of one run."""
    with server as running:
        free, limited = [], []
        for _ in range(ROUNDS):
            free.append(_report(running, list(running.contents.runs)))
            limited.append(_report(running, list(running.contents.children)))
    best, peer = max(limited), max(free)
    yield Figure(
        label=f"{running.profile}: steps of one tree under every limit, {AGENTS} agents",
        figure=format_rate(best),
        compared_with=f"without any limit: {format_rate(peer)}",
        ratio=best / peer,
        target=f"{SHARE} of it",
        met=best / peer >= SHARE,
    )


def _report(server: Server, runs: list[PreparedRun]) -> float:
    load: Load = report_steps(server.url, runs, seconds=SECONDS)
    if load.refusals:
        raise RuntimeError(f"{server.profile} refused steps: {dict(load.refusals)}")
    return load.rate
