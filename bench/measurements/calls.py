"""Tool calls over HTTP, one server process, beside steps in the same run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager

from bench.clients.agents import ask_about_calls, report_steps
from bench.figures import Figure, milliseconds, per_second
from bench.servers.launch import Site

AGENTS = 64
ROUNDS = 3  # of which the best counts, for both
SECONDS = 3
# A call stores two rows more than a step, and is read as a shell would read it.
SHARE_OF_STEPS = 0.4


def calls(site: AbstractContextManager[Site]) -> Iterator[Figure]:
    """Needs a site with 2 * AGENTS runs: steps and calls have their own."""
    with site as here:
        asking, reporting = here.stage.runs[:AGENTS], here.stage.runs[AGENTS:]
        loads, steps = [], []
        for _ in range(ROUNDS):
            loads.append(ask_about_calls(here.url, asking, seconds=SECONDS))
            steps.append(report_steps(here.url, reporting, seconds=SECONDS).rate)
        refused = sum((load.refused for load in loads), Counter())
        if refused:
            raise RuntimeError(f"{here.profile} refused calls: {dict(refused)}")
    best = max(loads, key=lambda load: load.rate)
    yield Figure(
        what=f"{here.profile}: calls let through, {AGENTS} agents",
        figure=per_second(best.rate),
        beside=f"steps in the same run: {per_second(max(steps))}",
        ratio=best.rate / max(steps),
        target=f"{SHARE_OF_STEPS} of the steps",
        met=best.rate / max(steps) >= SHARE_OF_STEPS,
    )
    yield Figure(
        what=f"{here.profile}: a call's answer, {AGENTS} agents, p50 and p99",
        figure=", ".join(milliseconds(best.latency(at)) for at in (0.5, 0.99)),
    )
