"""Agents that wait for a person's ruling, and a person who rules."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from time import perf_counter, time

from bench.clients.connection import Line, connect, request
from bench.servers.contents import StagedReview
from bench.servers.launch import Site

REVIEWERS = 8  # connections the rulings go over
PROBE_SECONDS = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Wake:
    """One ruling: when it was sent, when made by its own date, when the agent had it."""

    sent: float
    made: float
    awake: float


class WaitingAgent:
    """Asks again when its time is up, as real ones do."""

    def __init__(self, review: StagedReview) -> None:
        self.review = review
        self._line: Line | None = None
        self._waiting: asyncio.Task[tuple[float, float]] | None = None

    async def park(self, url: str) -> None:
        self._line = await connect(url)
        self._waiting = asyncio.create_task(self._wait(self._line, url))

    async def ruling(self) -> tuple[float, float]:
        """When it was made, and when it was here."""
        assert self._waiting is not None
        return await self._waiting

    def leave(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
        if self._line is not None:
            self._line.close()

    async def _wait(self, line: Line, url: str) -> tuple[float, float]:
        path = f"/runs/{self.review.run}/decision?wait=55"
        ask = request("GET", path, url=url, secret=self.review.key)
        while True:
            answer = await line.ask(ask)
            now = time()
            if answer.status != 200:
                raise RuntimeError(f"A waiting agent got {answer}")
            ruling = json.loads(answer.body)["ruling"]
            if ruling is not None:
                return datetime.fromisoformat(ruling["at"]).timestamp(), now


async def rule(site: Site, agents: Sequence[WaitingAgent], *, rate: int) -> list[Wake]:
    """Approve them one after the other, at an even pace."""
    lines: asyncio.Queue[Line] = asyncio.Queue()
    for _ in range(REVIEWERS):
        lines.put_nowait(await connect(site.url))
    tasks = []
    for agent in agents:
        tasks.append(asyncio.create_task(_rule_one(site, agent, lines)))
        await asyncio.sleep(1 / rate)
    wakes = await asyncio.gather(*tasks)
    while not lines.empty():
        lines.get_nowait().close()
    return wakes


async def _rule_one(
    site: Site, agent: WaitingAgent, lines: asyncio.Queue[Line]
) -> Wake:
    review = agent.review
    body = {"action": "approve", "version": 1, "content_digest": review.digest}
    ask = request(
        "POST",
        f"/reviews/{review.code}/ruling",
        url=site.url,
        secret=site.stage.token,
        body=json.dumps(body).encode(),
    )
    line = await lines.get()
    sent = time()
    answer = await line.ask(ask)
    lines.put_nowait(line)
    if answer.status != 200:
        raise RuntimeError(f"A ruling got {answer}")
    made, awake = await agent.ruling()
    return Wake(sent=sent, made=made, awake=awake)


async def health(site: Site, *, probes: int) -> list[float]:
    """How long /healthz took, each time, in seconds."""
    line = await connect(site.url)
    ask = request("GET", "/healthz", url=site.url)
    took = []
    for _ in range(probes):
        began = perf_counter()
        answer = await line.ask(ask)
        took.append(perf_counter() - began)
        if answer.status != 200:
            raise RuntimeError(f"/healthz got {answer}")
        await asyncio.sleep(PROBE_SECONDS)
    line.close()
    return took
