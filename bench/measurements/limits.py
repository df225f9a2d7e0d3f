"""Steps of one tree under every limit that runs can share, beside steps without any."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from statistics import fmean

from bench.clients.agents import Load, report_steps
from bench.figures import Figure, format_rate
from bench.servers.contents import PreparedRun
from bench.servers.launch import Server

AGENTS = 64
# Both take turns, each as often first as second: steps become slower as a database grows.
TURNS = ("free", "limited", "limited", "free") * 2
SECONDS = 4
SHARE = 0.9


def measure_limits(server: AbstractContextManager[Server]) -> Iterator[Figure]:
    """Take a server with AGENTS runs and as many children of one run."""
    with server as running:
        runs = {"free": running.contents.runs, "limited": running.contents.children}
        rates: dict[str, list[float]] = {turn: [] for turn in runs}
        for turn in TURNS:
            rates[turn].append(_report(running, list(runs[turn])))
    limited, free = fmean(rates["limited"]), fmean(rates["free"])
    yield Figure(
        label=f"{running.profile}: steps of one tree under every limit, {AGENTS} agents",
        figure=format_rate(limited),
        compared_with=f"without any limit: {format_rate(free)}",
        ratio=limited / free,
        better="higher",
        target=f"{SHARE} of it",
        met=limited / free >= SHARE,
    )


def _report(server: Server, runs: list[PreparedRun]) -> float:
    load: Load = report_steps(server.url, runs, seconds=SECONDS)
    if load.refusals:
        raise RuntimeError(f"{server.profile} refused steps: {dict(load.refusals)}")
    return load.rate
