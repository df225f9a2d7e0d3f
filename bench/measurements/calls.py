"""Tool calls over HTTP, one server process, beside steps in the same run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager

from bench.clients.agents import judge_calls, report_steps
from bench.figures import Figure, format_milliseconds, format_rate
from bench.servers.launch import Server

AGENTS = 64
ROUNDS = 3  # of which the best counts, for both
SECONDS = 3
RATE = 1_800


def measure_calls(server: AbstractContextManager[Server]) -> Iterator[Figure]:
    """Take a server with 2 * AGENTS runs: steps and calls have their own."""
    with server as running:
        asking, reporting = (
            running.contents.runs[:AGENTS],
            running.contents.runs[AGENTS:],
        )
        loads, steps = [], []
        for _ in range(ROUNDS):
            loads.append(judge_calls(running.url, asking, seconds=SECONDS))
            steps.append(report_steps(running.url, reporting, seconds=SECONDS).rate)
        refused = sum((load.refusals for load in loads), Counter())
        if refused:
            raise RuntimeError(f"{running.profile} refused calls: {dict(refused)}")
    best = max(loads, key=lambda load: load.rate)
    yield Figure(
        label=f"{running.profile}: calls let through, {AGENTS} agents",
        figure=format_rate(best.rate),
        compared_with=f"steps in the same run: {format_rate(max(steps))}",
        ratio=best.rate / max(steps),
        better="higher",
        target=format_rate(RATE),
        met=best.rate >= RATE,
    )
    yield Figure(
        label=f"{running.profile}: a call's answer, {AGENTS} agents, p50 and p99",
        figure=", ".join(
            format_milliseconds(best.get_latency(at)) for at in (0.5, 0.99)
        ),
    )
