"""From a person's ruling to the agent that goes on, through the client, beside peers.

Each of 200 agents waits in `run.wait(review)`, as its author wrote it. The peers hold
as many waiters in the way their own documentation shows.

A ruling is made when its project is held and the clock is read: that is its date in the
ledger. It is judged, stored and committed after that.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from time import time

import uvloop
from checkrail import AsyncCheckrail

from bench.clients.connection import Line, connect, request
from bench.clients.waiting_agents import Wake
from bench.figures import Figure, milliseconds, share
from bench.peers.wake_peers import PEERS
from bench.servers.contents import StagedReview
from bench.servers.launch import Site

PARKED = 200
RULED = 60
RULINGS_A_SECOND = 20
PARK_SECONDS = 2.0
LIMITS = ((0.5, 0.005), (0.95, 0.020))


def waking(site: AbstractContextManager[Site]) -> Iterator[Figure]:
    """Needs a site with PARKED reviews."""
    with site as here:
        wakes = uvloop.run(_measure(here))
    took = [wake.awake - wake.made for wake in wakes]
    for part, limit in LIMITS:
        yield Figure(
            what=f"{here.profile}: ruling made → the client returns, p{part * 100:.0f}",
            figure=milliseconds(share(took, part)),
            beside=milliseconds(limit),
            ratio=share(took, part) / limit,
            target=f"under {limit * 1000:.0f} ms",
            met=share(took, part) < limit,
        )
    sent = [wake.awake - wake.sent for wake in wakes]
    yield _two(f"{here.profile}: ruling sent → the client returns", sent)


def waking_peers() -> Iterator[Figure]:
    for peer in PEERS:
        wakes = peer.wakes(parked=PARKED, ruled=RULED, rate=RULINGS_A_SECOND)
        if wakes is None:
            yield Figure(what=f"{peer.name}: not measured", figure="cannot be run here")
        else:
            yield _two(f"{peer.name}: answer sent → its waiter returns", wakes)


def _two(what: str, wakes: Sequence[float]) -> Figure:
    figures = ", ".join(milliseconds(share(wakes, part)) for part in (0.5, 0.95))
    return Figure(what=f"{what}, p50 and p95", figure=figures)


async def _measure(site: Site) -> list[Wake]:
    reviews = site.stage.reviews[:PARKED]
    clients = {
        key: AsyncCheckrail(site.url, key) for key in {item.key for item in reviews}
    }
    waiting = {
        item.code: asyncio.create_task(_wait(clients[item.key], item))
        for item in reviews
    }
    await asyncio.sleep(PARK_SECONDS)
    line = await connect(site.url)
    wakes = []
    for review in reviews[:RULED]:
        wakes.append(await _rule(site, line, review, waiting[review.code]))
        await asyncio.sleep(1 / RULINGS_A_SECOND)
    line.close()
    for task in waiting.values():
        task.cancel()
    await asyncio.gather(*waiting.values(), return_exceptions=True)
    for client in clients.values():
        await client.close()
    return wakes


async def _wait(client: AsyncCheckrail, review: StagedReview) -> tuple[float, float]:
    """When the ruling was made by its own date, and when the agent had it."""
    run = await client.resume(review.run)
    ruling = await run.wait(review.code)
    awake = time()
    assert ruling.at is not None
    return datetime.fromisoformat(ruling.at).timestamp(), awake


async def _rule(
    site: Site,
    line: Line,
    review: StagedReview,
    waiting: asyncio.Task[tuple[float, float]],
) -> Wake:
    body = {"action": "approve", "version": 1, "content_digest": review.digest}
    ask = request(
        "POST",
        f"/reviews/{review.code}/ruling",
        url=site.url,
        secret=site.stage.token,
        body=json.dumps(body).encode(),
    )
    sent = time()
    answer = await line.ask(ask)
    if answer.status != 200:
        raise RuntimeError(f"A ruling got {answer}")
    made, awake = await waiting
    return Wake(sent=sent, made=made, awake=awake)
