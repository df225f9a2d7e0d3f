"""A thousand parked long-polls: what they cost, and how soon a ruling wakes one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

import uvloop

from bench.clients.waiting_agents import WaitingAgent, Wake, health, rule
from bench.figures import Figure, megabytes, milliseconds, share
from bench.servers.launch import Site
from bench.servers.process import cost_of, quiet

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
class Parked:
    """The server with so many agents waiting; `memory` is what they added."""

    waiters: int
    memory: int
    threads: int
    health: Sequence[float]


def waiting(site: AbstractContextManager[Site]) -> Iterator[Figure]:
    """Needs a site with MANY reviews."""
    with site as here:
        few, many, wakes = uvloop.run(_measure(here))
    yield from _parked_figures(here.profile, few, many)
    yield from _wake_figures(here.profile, wakes)


async def _measure(site: Site) -> tuple[Parked, Parked, list[Wake]]:
    agents = [WaitingAgent(review) for review in site.stage.reviews[:MANY]]
    await health(site, probes=PROBES)  # whatever starts at first use has started now
    await quiet(site.pid)
    empty = cost_of(site.pid).memory

    async def parked(newcomers: Sequence[WaitingAgent], *, waiters: int) -> Parked:
        for agent in newcomers:
            await agent.park(site.url)
        await quiet(site.pid)
        cost = cost_of(site.pid)
        rounds = [await health(site, probes=PROBES) for _ in range(ROUNDS)]
        return Parked(
            waiters=waiters,
            memory=cost.memory - empty,
            threads=cost.threads,
            health=min(rounds, key=lambda took: share(took, 0.99)),
        )

    few = await parked(agents[:FEW], waiters=FEW)
    many = await parked(agents[FEW:], waiters=MANY)
    rounds = [
        await rule(site, agents[number * RULINGS :][:RULINGS], rate=RULINGS_A_SECOND)
        for number in range(ROUNDS)
    ]
    for agent in agents:
        agent.leave()
    return few, many, min(rounds, key=lambda wakes: share(_since_made(wakes), 0.5))


def _since_made(wakes: Sequence[Wake]) -> list[float]:
    return [wake.awake - wake.made for wake in wakes]


def _parked_figures(name: str, few: Parked, many: Parked) -> Iterator[Figure]:
    for parked in (few, many):
        each = parked.memory / parked.waiters
        yield Figure(
            what=f"{name}: {parked.waiters:,} parked long-polls cost",
            figure=f"{megabytes(parked.memory)} ({each / 1000:.0f} KB each)",
            beside=megabytes(MEMORY_LIMIT),
            ratio=parked.memory / MEMORY_LIMIT,
            target="under 100 MB",
            met=parked.memory < MEMORY_LIMIT,
        )
    yield Figure(
        what=f"{name}: threads with {FEW:,} and with {MANY:,} parked",
        figure=f"{few.threads} and {many.threads}",
        target="none for waiters",
        met=many.threads - few.threads <= SPARE_THREADS,
    )
    worst = share(many.health, 0.99)
    yield Figure(
        what=f"{name}: /healthz beside {MANY:,} parked, p50 and p99",
        figure=f"{milliseconds(share(many.health, 0.5))}, {milliseconds(worst)}",
        beside=milliseconds(HEALTH_LIMIT),
        ratio=worst / HEALTH_LIMIT,
        target="under 50 ms",
        met=worst < HEALTH_LIMIT,
    )


def _wake_figures(name: str, wakes: Sequence[Wake]) -> Iterator[Figure]:
    since_made = _since_made(wakes)
    since_sent = [wake.awake - wake.sent for wake in wakes]
    median = share(since_made, 0.5)
    yield Figure(
        what=f"{name}: ruling made → agent has it, p50",
        figure=milliseconds(median),
        beside=milliseconds(WAKE_LIMIT),
        ratio=median / WAKE_LIMIT,
        target="under 20 ms",
        met=median < WAKE_LIMIT,
    )
    for what, times, parts in (
        ("ruling made → agent has it, p95 and p99", since_made, (0.95, 0.99)),
        ("ruling sent → agent has it, p50 and p99", since_sent, (0.5, 0.99)),
    ):
        yield Figure(
            what=f"{name}: {what}",
            figure=", ".join(milliseconds(share(times, part)) for part in parts),
        )
