"""From a person's ruling to the agent that goes on, through the client, beside peers.

Each of 200 agents waits in `run.wait(review)`, as its author wrote it. The peers hold
as many waiters in the way their own documentation shows.

A ruling is made when the clock is read to decide it: that is its date in the ledger. It is
stored and committed after that.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from time import time

import uvloop
from checkrail import AsyncCheckrail

from bench.clients.connection import Connection, build_request, connect
from bench.clients.waiting_agents import WakeTimes
from bench.figures import Figure, format_milliseconds, get_percentile
from bench.peers.wake_peers import PEERS
from bench.servers.contents import PreparedReview
from bench.servers.launch import Server
from bench.servers.process import wait_until_idle

WAITING = 200
RULED = 60
RULINGS_A_SECOND = 20
SETTLE_SECONDS = 2.0
LIMITS = ((0.5, 0.005), (0.95, 0.020))
# The same from when the person sent it, p50.
SENT_LIMIT = 0.004


def measure_waking(server: AbstractContextManager[Server]) -> Iterator[Figure]:
    """`server` has WAITING reviews."""
    with server as running:
        wakes = uvloop.run(_measure(running))
    took = [wake.awake - wake.made for wake in wakes]
    for part, limit in LIMITS:
        yield Figure(
            label=f"{running.profile}: ruling made → the client returns, p{part * 100:.0f}",
            figure=format_milliseconds(get_percentile(took, part)),
            compared_with=format_milliseconds(limit),
            ratio=get_percentile(took, part) / limit,
            better="lower",
            target=f"under {limit * 1000:.0f} ms",
            met=get_percentile(took, part) < limit,
        )
    sent = [wake.awake - wake.sent for wake in wakes]
    figure = _build_figure(f"{running.profile}: ruling sent → the client returns", sent)
    yield replace(
        figure,
        target=f"p50 under {format_milliseconds(SENT_LIMIT)}",
        met=get_percentile(sent, 0.5) < SENT_LIMIT,
    )


def measure_peers() -> Iterator[Figure]:
    for peer in PEERS:
        wakes = peer.measure(waiting=WAITING, ruled=RULED, rate=RULINGS_A_SECOND)
        if wakes is None:
            yield Figure(
                label=f"{peer.name}: not measured", figure="cannot be run running"
            )
        else:
            yield _build_figure(f"{peer.name}: answer sent → its waiter returns", wakes)


def _build_figure(what: str, wakes: Sequence[float]) -> Figure:
    figures = ", ".join(
        format_milliseconds(get_percentile(wakes, part)) for part in (0.5, 0.95)
    )
    return Figure(label=f"{what}, p50 and p95", figure=figures)


async def _measure(server: Server) -> list[WakeTimes]:
    reviews = server.contents.reviews[:WAITING]
    clients = {
        key: AsyncCheckrail(server.url, key) for key in {item.key for item in reviews}
    }
    waiting = {
        item.code: asyncio.create_task(_wait(clients[item.key], item))
        for item in reviews
    }
    await asyncio.sleep(SETTLE_SECONDS)
    await wait_until_idle(server.pid)  # until then some of them are on their way
    connection = await connect(server.url)
    wakes = []
    for review in reviews[:RULED]:
        wakes.append(await _rule(server, connection, review, waiting[review.code]))
        await asyncio.sleep(1 / RULINGS_A_SECOND)
    connection.close()
    for task in waiting.values():
        task.cancel()
    await asyncio.gather(*waiting.values(), return_exceptions=True)
    for client in clients.values():
        await client.close()
    return wakes


async def _wait(client: AsyncCheckrail, review: PreparedReview) -> tuple[float, float]:
    """When the ruling was made by its own date, and when the agent had it."""
    run = await client.resume(review.run)
    ruling = await run.wait(review.code)
    awake = time()
    assert ruling.at is not None
    return datetime.fromisoformat(ruling.at).timestamp(), awake


async def _rule(
    server: Server,
    connection: Connection,
    review: PreparedReview,
    waiting: asyncio.Task[tuple[float, float]],
) -> WakeTimes:
    body = {"action": "approve", "version": 1, "content_digest": review.digest}
    ask = build_request(
        "POST",
        f"/reviews/{review.code}/ruling",
        url=server.url,
        secret=server.contents.token,
        body=json.dumps(body).encode(),
    )
    sent = time()
    answer = await connection.ask(ask)
    if answer.status != 200:
        raise RuntimeError(f"A ruling got {answer}")
    made, awake = await waiting
    return WakeTimes(sent=sent, made=made, awake=awake)
