"""What a thousand waiting agents cost, and how soon a ruling reaches one of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

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

FEW, MANY = 200, 1_000
ROUNDS = 3  # of which the best counts: other work on the machine only ever slows
PROBES = 100
RULINGS = 80
RULINGS_A_SECOND = 20
SPARE_THREADS = 4  # a pool may still be filling up
MEMORY_LIMIT = 100_000_000
HEALTH_LIMIT = 0.050
WAKE_LIMIT = 0.020


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingCost:
    """The server with so many agents waiting; `memory` is what they added."""

    waiters: int
    memory: int
    threads: int
    health: Sequence[float]


def measure_waiting(server: AbstractContextManager[Server]) -> Iterator[Figure]:
    """Take a server with MANY reviews."""
    with server as running:
        few, many, wakes = uvloop.run(_measure(running))
    yield from _build_cost_figures(running.profile, few, many)
    yield from _build_wake_figures(running.profile, wakes)


async def _measure(server: Server) -> tuple[WaitingCost, WaitingCost, list[WakeTimes]]:
    agents = [WaitingAgent(review) for review in server.contents.reviews[:MANY]]
    await time_health_checks(
        server, probes=PROBES
    )  # whatever starts at first use has started now
    await wait_until_idle(server.pid)
    empty = measure_process(server.pid).memory

    async def add_waiters(
        newcomers: Sequence[WaitingAgent], *, waiters: int
    ) -> WaitingCost:
        for agent in newcomers:
            await agent.start_waiting(server.url)
        await wait_until_idle(server.pid)
        cost = measure_process(server.pid)
        rounds = [
            await time_health_checks(server, probes=PROBES) for _ in range(ROUNDS)
        ]
        return WaitingCost(
            waiters=waiters,
            memory=cost.memory - empty,
            threads=cost.threads,
            health=min(rounds, key=lambda took: get_percentile(took, 0.99)),
        )

    few = await add_waiters(agents[:FEW], waiters=FEW)
    many = await add_waiters(agents[FEW:], waiters=MANY)
    rounds = [
        await approve_reviews(
            server, agents[number * RULINGS :][:RULINGS], rate=RULINGS_A_SECOND
        )
        for number in range(ROUNDS)
    ]
    for agent in agents:
        agent.stop()
    return (
        few,
        many,
        min(rounds, key=lambda wakes: get_percentile(_list_delays(wakes), 0.5)),
    )


def _list_delays(wakes: Sequence[WakeTimes]) -> list[float]:
    return [wake.awake - wake.made for wake in wakes]


def _build_cost_figures(
    name: str, few: WaitingCost, many: WaitingCost
) -> Iterator[Figure]:
    for cost in (few, many):
        each = cost.memory / cost.waiters
        yield Figure(
            label=f"{name}: {cost.waiters:,} waiting agents cost",
            figure=f"{format_megabytes(cost.memory)} ({each / 1000:.0f} KB each)",
            compared_with=format_megabytes(MEMORY_LIMIT),
            ratio=cost.memory / MEMORY_LIMIT,
            better="lower",
            target="under 100 MB",
            met=cost.memory < MEMORY_LIMIT,
        )
    yield Figure(
        label=f"{name}: threads with {FEW:,} and with {MANY:,} waiting",
        figure=f"{few.threads} and {many.threads}",
        target="none for waiters",
        met=many.threads - few.threads <= SPARE_THREADS,
    )
    worst = get_percentile(many.health, 0.99)
    yield Figure(
        label=f"{name}: /healthz beside {MANY:,} waiting, p50 and p99",
        figure=f"{format_milliseconds(get_percentile(many.health, 0.5))}, {format_milliseconds(worst)}",
        compared_with=format_milliseconds(HEALTH_LIMIT),
        ratio=worst / HEALTH_LIMIT,
        better="lower",
        target="under 50 ms",
        met=worst < HEALTH_LIMIT,
    )


def _build_wake_figures(name: str, wakes: Sequence[WakeTimes]) -> Iterator[Figure]:
    since_made = _list_delays(wakes)
    since_sent = [wake.awake - wake.sent for wake in wakes]
    median = get_percentile(since_made, 0.5)
    yield Figure(
        label=f"{name}: ruling made → agent has it, p50",
        figure=format_milliseconds(median),
        compared_with=format_milliseconds(WAKE_LIMIT),
        ratio=median / WAKE_LIMIT,
        better="lower",
        target="under 20 ms",
        met=median < WAKE_LIMIT,
    )
    for what, times, parts in (
        ("ruling made → agent has it, p95 and p99", since_made, (0.95, 0.99)),
        ("ruling sent → agent has it, p50 and p99", since_sent, (0.5, 0.99)),
    ):
        yield Figure(
            label=f"{name}: {what}",
            figure=", ".join(
                format_milliseconds(get_percentile(times, part)) for part in parts
            ),
        )
