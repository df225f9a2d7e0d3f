"""A thousand event streams on a run that moves: what they cost somebody else's call."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from time import perf_counter
from typing import cast
from urllib.parse import urlsplit

import uvloop

from bench.clients.connection import build_request, connect
from bench.figures import Figure, format_milliseconds, get_percentile
from bench.servers.contents import PreparedRun
from bench.servers.launch import Server

STREAMS = 1_000
CALLS = 300
PAUSE_SECONDS = 0.01
STEPS_A_SECOND = 10
OPENING = 20  # streams that are being opened at the same time
CATCH_UP_SECONDS = 30
RATIO = 2.0


class Stream(asyncio.Protocol):
    """One open stream; `entries` is how many events it has heard."""

    def __init__(self, asked: bytes) -> None:
        self._asked = asked
        self._transport: asyncio.Transport | None = None
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.entries = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.write(self._asked)

    def data_received(self, data: bytes) -> None:
        if not self.opened.done():
            if not data.startswith(b"HTTP/1.1 200 "):
                refused = RuntimeError(f"A stream got {data!r}")
                self.opened.set_exception(refused)
                return
            self.opened.set_result(None)
        self.entries += data.count(b"\ndata: ")

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


def measure_streams(server: AbstractContextManager[Server]) -> Iterator[Figure]:
    """Take a server with two runs, of two agents, and limits for so many streams."""
    with server as running:
        idle, quiet, moving, steps = uvloop.run(_measure(running))
    name = running.profile
    for what, took, more in (
        ("quiet", quiet, ""),
        ("moving", moving, f", {steps} steps"),
    ):
        median, before = get_percentile(took, 0.5), get_percentile(idle, 0.5)
        yield Figure(
            label=f"{name}: another agent's call beside {STREAMS:,} streams, {what}",
            figure=f"{format_milliseconds(median)} (p99 {format_milliseconds(get_percentile(took, 0.99))}){more}",
            compared_with=f"idle: {format_milliseconds(before)} (p99 {format_milliseconds(get_percentile(idle, 0.99))})",
            ratio=median / before,
            better="lower",
            target="within twice",
            met=median <= RATIO * before,
        )


async def _measure(
    server: Server,
) -> tuple[list[float], list[float], list[float], int]:
    followed, other = server.contents.runs[:2]
    await _time_calls(server, other)  # whatever starts at first use has started now
    idle = await _time_calls(server, other)
    opened = await _open_streams(server, followed)
    quiet = await _time_calls(server, other)
    work = asyncio.create_task(_report_steps(server, followed))
    moving = await _time_calls(server, other)
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)
    entries = followed.next_step  # run.started, and one for each step
    async with asyncio.timeout(CATCH_UP_SECONDS):
        while any(stream.entries < entries for stream in opened):
            await asyncio.sleep(0.1)
    for stream in opened:
        stream.close()
    return idle, quiet, moving, followed.next_step - 1


async def _time_calls(server: Server, run: PreparedRun) -> list[float]:
    """How long each call of an agent took that has nothing to do with the streams."""
    body = json.dumps({"command": "git status"}).encode()
    asked = build_request(
        "POST", "/evaluate/command", url=server.url, secret=run.key, body=body
    )
    connection = await connect(server.url)
    took = []
    for _ in range(CALLS):
        began = perf_counter()
        answer = await connection.ask(asked)
        took.append(perf_counter() - began)
        if answer.status != 200:
            raise RuntimeError(f"A call got {answer}")
        await asyncio.sleep(PAUSE_SECONDS)
    connection.close()
    return took


async def _open_streams(server: Server, run: PreparedRun) -> Sequence[Stream]:
    asked = build_request(
        "GET", f"/runs/{run.code}/events", url=server.url, secret=run.key
    )
    address = urlsplit(server.url)
    assert address.hostname is not None
    assert address.port is not None
    loop = asyncio.get_running_loop()
    opened: list[Stream] = []
    while len(opened) < STREAMS:
        some = [
            await loop.create_connection(
                lambda: Stream(asked), address.hostname, address.port
            )
            for _ in range(OPENING)
        ]
        await asyncio.gather(*(stream.opened for _, stream in some))
        opened += [stream for _, stream in some]
    return opened


async def _report_steps(server: Server, run: PreparedRun) -> None:
    """Steps at an even pace, until it is stopped between two of them."""
    connection = await connect(server.url)
    while True:
        step = {"number": run.next_step, "tokens": 100, "tool_calls": 1}
        asked = build_request(
            "POST",
            f"/runs/{run.code}/steps",
            url=server.url,
            secret=run.key,
            body=json.dumps(step).encode(),
        )
        answer = await asyncio.shield(asyncio.ensure_future(connection.ask(asked)))
        if answer.status != 201:
            raise RuntimeError(f"A step got {answer}")
        run.next_step += 1
        await asyncio.sleep(1 / STEPS_A_SECOND)
