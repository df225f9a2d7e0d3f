"""What thousands of waiting agents cost, and how soon a ruling reaches one of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import chain, cycle, islice, pairwise

import uvloop

from bench.clients.waiting_agents import (
    WaitingAgent,
    WakeTimes,
    approve_reviews,
    time_health_checks,
)
from bench.figures import Figure, format_megabytes, format_milliseconds, get_percentile
from bench.servers.launch import Server
from bench.servers.process import measure_process, wait_until_idle

COUNTS = (200, 1_000, 5_000)
REVIEWS = 1_000  # each waited for by several agents where there are more
ROUNDS = 3  # of which the best counts: other work on the machine only ever slows
PROBES = 100
RULINGS = 40
WAKE_ROUNDS = 2  # the same
RULINGS_A_SECOND = 20
SPARE_THREADS = 4  # a pool may still be filling up
MEMORY_LIMITS = {200: 100_000_000, 1_000: 100_000_000, 5_000: 150_000_000}
HEALTH_LIMIT = 0.020
WAKE_LIMITS = ((0.5, 0.003), (0.95, 0.008))


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingCost:
    """The server with so many agents waiting; `memory` is what they added."""

    waiters: int
    memory: int
    threads: int
    health: Sequence[float]
    wakes: Sequence[WakeTimes]


def measure_waiting(server: AbstractContextManager[Server]) -> Iterator[Figure]:
    """Take a server with REVIEWS reviews that lets all agents come from one address."""
    with server as running:
        costs = uvloop.run(_measure(running))
    name = running.profile
    for cost in costs:
        yield _build_memory_figure(name, cost)
    yield Figure(
        label=f"{name}: threads with {' and with '.join(f'{each:,}' for each in COUNTS)} waiting",
        figure=" and ".join(str(cost.threads) for cost in costs),
        target="none for waiters",
        met=costs[-1].threads - costs[0].threads <= SPARE_THREADS,
    )
    for cost in costs[1:]:
        yield _build_health_figure(name, cost)
        yield from _build_wake_figures(name, cost)


async def _measure(server: Server) -> list[WaitingCost]:
    reviews = server.contents.reviews
    # The first few are waited for by one agent each: these are ruled on.
    waited_for = chain(reviews, cycle(reviews[COUNTS[0] :]))
    agents = [WaitingAgent(review) for review in islice(waited_for, COUNTS[-1])]
    await time_health_checks(
        server, probes=PROBES
    )  # whatever starts at first use has started now
    await wait_until_idle(server.pid)
    empty = measure_process(server.pid).memory
    ruled = iter(agents[: COUNTS[0]])
    costs = []
    for before, waiters in pairwise((0, *COUNTS)):
        for agent in agents[before:waiters]:
            await agent.start_waiting(server.url)
        await wait_until_idle(server.pid)
        cost = measure_process(server.pid)
        health = [
            await time_health_checks(server, probes=PROBES) for _ in range(ROUNDS)
        ]
        wakes = [
            await approve_reviews(
                server, [*islice(ruled, RULINGS)], rate=RULINGS_A_SECOND
            )
            for _ in range(WAKE_ROUNDS if waiters > COUNTS[0] else 0)
        ]
        costs.append(
            WaitingCost(
                waiters=waiters,
                memory=cost.memory - empty,
                threads=cost.threads,
                health=min(health, key=lambda took: get_percentile(took, 0.99)),
                wakes=min(
                    wakes,
                    key=lambda some: get_percentile(_list_delays(some), 0.5),
                    default=(),
                ),
            )
        )
    for agent in agents:
        agent.stop()
    return costs


def _list_delays(wakes: Sequence[WakeTimes]) -> list[float]:
    return [wake.awake - wake.made for wake in wakes]


def _build_memory_figure(name: str, cost: WaitingCost) -> Figure:
    each, limit = cost.memory / cost.waiters, MEMORY_LIMITS[cost.waiters]
    return Figure(
        label=f"{name}: {cost.waiters:,} waiting agents cost",
        figure=f"{format_megabytes(cost.memory)} ({each / 1000:.0f} KB each)",
        compared_with=format_megabytes(limit),
        ratio=cost.memory / limit,
        better="lower",
        target=f"under {limit / 1_000_000:.0f} MB",
        met=cost.memory < limit,
    )


def _build_health_figure(name: str, cost: WaitingCost) -> Figure:
    median, worst = (get_percentile(cost.health, part) for part in (0.5, 0.99))
    return Figure(
        label=f"{name}: /healthz beside {cost.waiters:,} waiting, p50 and p99",
        figure=f"{format_milliseconds(median)}, {format_milliseconds(worst)}",
        compared_with=format_milliseconds(HEALTH_LIMIT),
        ratio=worst / HEALTH_LIMIT,
        better="lower",
        target=f"under {HEALTH_LIMIT * 1000:.0f} ms",
        met=worst < HEALTH_LIMIT,
    )


def _build_wake_figures(name: str, cost: WaitingCost) -> Iterator[Figure]:
    since_made = _list_delays(cost.wakes)
    since_sent = [wake.awake - wake.sent for wake in cost.wakes]
    where = f"beside {cost.waiters:,} waiting"
    for part, limit in WAKE_LIMITS:
        took = get_percentile(since_made, part)
        yield Figure(
            label=f"{name}: ruling made → agent has it, {where}, p{part * 100:.0f}",
            figure=format_milliseconds(took),
            compared_with=format_milliseconds(limit),
            ratio=took / limit,
            better="lower",
            target=f"under {limit * 1000:.0f} ms",
            met=took < limit,
        )
    yield Figure(
        label=f"{name}: ruling sent → agent has it, {where}, p50 and p99",
        figure=", ".join(
            format_milliseconds(get_percentile(since_sent, part))
            for part in (0.5, 0.99)
        ),
    )
