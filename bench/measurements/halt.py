"""How soon everything stands still after a halt, and goes on after its release.

On PostgreSQL three web processes serve, and one of them is killed at the moment of the halt.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import cycle, islice
from time import time
from typing import Any

import uvloop

from bench.clients.connection import Connection, build_request, connect
from bench.figures import Figure, format_milliseconds, get_percentile
from bench.servers.contents import PreparedReview, PreparedRun
from bench.servers.launch import Server, start_another
from bench.servers.process import wait_until_idle

PARKED, BUSY = 5_000, 200
REVIEWS = 1_000  # each waited for by several
PROCESSES = 3
WARM_UP_SECONDS = 3.0
SETTLE_SECONDS = 10.0
LIMIT = 1.0
AT_ONCE = 100


@dataclass(slots=True)
class Told:
    """What came of a halt, in seconds after it was made."""

    parked: list[float] = field(default_factory=list)
    granted: list[float] = field(default_factory=list)
    untold: int = 0
    lost: int = 0


def measure_halt_on_postgres(
    server: AbstractContextManager[Server],
) -> Iterator[Figure]:
    """Take a server with REVIEWS reviews and BUSY runs."""
    with ExitStack() as stack:
        first = stack.enter_context(server)
        others = [
            stack.enter_context(start_another(first)) for _ in range(PROCESSES - 1)
        ]
        told = uvloop.run(_measure([first, *others], kills=True))
    yield from _build_figures(first.profile, told)


def measure_halt_on_sqlite(server: AbstractContextManager[Server]) -> Iterator[Figure]:
    """The same by one process: SQLite has no more."""
    with server as only:
        told = uvloop.run(_measure([only], kills=False))
    yield from _build_figures(only.profile, told)


async def _measure(servers: Sequence[Server], *, kills: bool) -> Told:
    first, contents = servers[0], servers[0].contents
    told, doomed = Told(), servers[-1] if kills else None
    parked = [
        (servers[number % len(servers)], review)
        for number, review in enumerate(islice(cycle(contents.reviews), PARKED))
    ]
    waiting = []
    for begin in range(0, len(parked), AT_ONCE):
        some = parked[begin : begin + AT_ONCE]
        waiting += await asyncio.gather(*(_park(each, review) for each, review in some))
    for server in servers:
        await wait_until_idle(server.pid)  # now all of them are parked
    busy = [
        asyncio.create_task(_work(servers[number % len(servers)].url, run))
        for number, run in enumerate(contents.runs[:BUSY])
    ]
    await asyncio.sleep(WARM_UP_SECONDS)
    if doomed is not None:
        os.kill(doomed.pid, signal.SIGKILL)
    halt = await _ask(first, "POST", "/halts", scope={"project": True}, reason="Bench")
    made = datetime.fromisoformat(halt["at"]).timestamp()
    await asyncio.wait([task for _, task in waiting], timeout=SETTLE_SECONDS)
    for server, task in waiting:
        if server is doomed:
            task.cancel()
        elif not task.done():
            told.untold += 1
            task.cancel()
        else:
            told.parked.append(task.result() - made)
    told.granted = [await task - made for task in busy]
    await _ask(first, "DELETE", f"/halts/{halt['id']}", reason="Measured")
    told.lost = await _count_lost(first, contents.runs[:BUSY], contents.reviews)
    return told


async def _park(
    server: Server, review: PreparedReview
) -> tuple[Server, asyncio.Task[float]]:
    connection = await connect(server.url)
    path = f"/runs/{review.run}/decision?wait=55"
    request = build_request("GET", path, url=server.url, secret=review.key)
    return server, asyncio.create_task(_wait(connection, request))


async def _wait(connection: Connection, request: bytes) -> float:
    """When it was told that it is halted."""
    try:
        answer = await connection.ask(request)
        if answer.status != 409:
            raise RuntimeError(f"A parked agent got {answer}")
        return time()
    finally:
        connection.close()


async def _work(url: str, run: PreparedRun) -> float:
    """Steps until it is halted, or its server is gone; when the last one was granted."""
    last = 0.0
    connection = await connect(url)
    with suppress(ConnectionError):
        while True:
            body = {
                "number": run.next_step,
                "tokens": 1,
                "tool_calls": 0,
                "checkpoint": True,
            }
            request = build_request(
                "POST",
                f"/runs/{run.code}/steps",
                url=url,
                secret=run.key,
                body=json.dumps(body).encode(),
            )
            answer = await connection.ask(request)
            if answer.status == 409:
                break
            if answer.status != 201:
                raise RuntimeError(f"A busy agent got {answer}")
            last = time()
            run.next_step += 1
    connection.close()
    return last


async def _count_lost(
    server: Server, runs: Sequence[PreparedRun], reviews: Sequence[PreparedReview]
) -> int:
    """After the release: runs whose next step is not taken, and reviews that are gone."""
    lost = 0
    connection = await connect(server.url)
    for run in runs:
        body = {
            "number": run.next_step,
            "tokens": 1,
            "tool_calls": 0,
            "checkpoint": True,
        }
        path, raw = f"/runs/{run.code}/steps", json.dumps(body).encode()
        request = build_request("POST", path, url=server.url, secret=run.key, body=raw)
        lost += (await connection.ask(request)).status != 201
    for review in reviews:
        path = f"/runs/{review.run}/decision"
        request = build_request("GET", path, url=server.url, secret=review.key)
        answer = await connection.ask(request)
        lost += answer.status != 200 or json.loads(answer.body)["state"] != "open"
    connection.close()
    return lost


async def _ask(server: Server, method: str, path: str, **body: Any) -> dict[str, Any]:
    connection = await connect(server.url)
    request = build_request(
        method,
        path,
        url=server.url,
        secret=server.contents.token,
        body=json.dumps(body).encode(),
    )
    answer = await connection.ask(request)
    connection.close()
    if answer.status not in {200, 201}:
        raise RuntimeError(f"{method} {path} got {answer}")
    found: dict[str, Any] = json.loads(answer.body)
    return found


def _build_figures(name: str, told: Told) -> Iterator[Figure]:
    for what, spans in (
        (f"halt made → last answer of {BUSY} busy agents", told.granted),
        (f"halt made → {len(told.parked):,} parked agents are told", told.parked),
    ):
        worst = get_percentile(spans, 0.99)
        yield Figure(
            label=f"{name}: {what}, p50 and p99",
            figure=f"{format_milliseconds(get_percentile(spans, 0.5))}, "
            f"{format_milliseconds(worst)}",
            compared_with=format_milliseconds(LIMIT),
            ratio=worst / LIMIT,
            better="lower",
            target="under a second",
            met=worst < LIMIT,
        )
    yield Figure(
        label=f"{name}: not told in {SETTLE_SECONDS:.0f} s, and lost after the release",
        figure=f"{told.untold} and {told.lost}",
        target="none",
        met=not (told.untold or told.lost),
    )
