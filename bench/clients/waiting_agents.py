"""Agents that wait for a person's ruling, and a person who rules."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from time import perf_counter, time

from bench.clients.connection import Connection, build_request, connect
from bench.servers.contents import PreparedReview
from bench.servers.launch import Server

REVIEWERS = 8  # connections the rulings go over
PROBE_SECONDS = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class WakeTimes:
    """One ruling: when it was sent, when made by its own date, when the agent had it."""

    sent: float
    made: float
    awake: float


class WaitingAgent:
    """Asks again when its time is up, as real ones do."""

    def __init__(self, review: PreparedReview) -> None:
        self.review = review
        self._connection: Connection | None = None
        self._waiting: asyncio.Task[tuple[float, float]] | None = None

    async def start_waiting(self, url: str) -> None:
        self._connection = await connect(url)
        self._waiting = asyncio.create_task(self._wait(self._connection, url))

    async def get_ruling_times(self) -> tuple[float, float]:
        """When the ruling was made, and when this agent got it."""
        assert self._waiting is not None
        return await self._waiting

    def stop(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
        if self._connection is not None:
            self._connection.close()

    async def _wait(self, connection: Connection, url: str) -> tuple[float, float]:
        # As the client asks, which names the review that it waits for.
        path = f"/runs/{self.review.run}/decision?wait=55&review={self.review.code}"
        ask = build_request("GET", path, url=url, secret=self.review.key)
        while True:
            answer = await connection.ask(ask)
            now = time()
            if answer.status != 200:
                raise RuntimeError(f"A waiting agent got {answer}")
            ruling = json.loads(answer.body)["ruling"]
            if ruling is not None:
                return datetime.fromisoformat(ruling["at"]).timestamp(), now


async def approve_reviews(
    server: Server, agents: Sequence[WaitingAgent], *, rate: int
) -> list[WakeTimes]:
    """Approve them one after the other, at an even pace."""
    connections: asyncio.Queue[Connection] = asyncio.Queue()
    for _ in range(REVIEWERS):
        connections.put_nowait(await connect(server.url))
    tasks = []
    for agent in agents:
        tasks.append(asyncio.create_task(_approve(server, agent, connections)))
        await asyncio.sleep(1 / rate)
    wakes = await asyncio.gather(*tasks)
    while not connections.empty():
        connections.get_nowait().close()
    return wakes


async def _approve(
    server: Server, agent: WaitingAgent, connections: asyncio.Queue[Connection]
) -> WakeTimes:
    review = agent.review
    body = {"action": "approve", "version": 1, "content_digest": review.digest}
    ask = build_request(
        "POST",
        f"/reviews/{review.code}/ruling",
        url=server.url,
        secret=server.contents.token,
        body=json.dumps(body).encode(),
    )
    connection = await connections.get()
    sent = time()
    answer = await connection.ask(ask)
    connections.put_nowait(connection)
    if answer.status != 200:
        raise RuntimeError(f"A ruling got {answer}")
    made, awake = await agent.get_ruling_times()
    return WakeTimes(sent=sent, made=made, awake=awake)


async def time_health_checks(server: Server, *, probes: int) -> list[float]:
    """How long /healthz took, each time, in seconds."""
    connection = await connect(server.url)
    ask = build_request("GET", "/healthz", url=server.url)
    took = []
    for _ in range(probes):
        began = perf_counter()
        answer = await connection.ask(ask)
        took.append(perf_counter() - began)
        if answer.status != 200:
            raise RuntimeError(f"/healthz got {answer}")
        await asyncio.sleep(PROBE_SECONDS)
    connection.close()
    return took
