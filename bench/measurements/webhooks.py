"""Ten thousand deliveries to a receiver that often fails, from commit to checked signature.

The whole way: agents report a step that pauses their run, which makes two events (the run
waits, a review is open); the server's own worker makes and sends the deliveries, and the
receiver verifies each. With SQLite, all in one process.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from time import perf_counter

import httpx

from bench.clients.webhook_receiver import UnsteadyReceiver
from bench.figures import Figure, format_rate, format_seconds, get_percentile
from bench.servers.contents import PreparedRun
from bench.servers.launch import Server

SINGLE = 40
MANY = 5_000
EVENTS = 2 * MANY
AGENTS = 16
FIRST_LIMIT = 5.0
PATIENCE_S = 900.0
PAUSING = {"number": 1, "tokens": 1, "tool_calls": 0, "uncertainty": 0.95}


def measure_webhooks(server: AbstractContextManager[Server]) -> Iterator[Figure]:
    """Take a server with SINGLE + MANY runs that may call this machine."""
    with server as running:
        waits, took, receiver = asyncio.run(_measure(running))
    late = get_percentile(waits, 0.95)
    yield Figure(
        label=f"{running.profile}: commit → first attempt of its webhook, p50 and p95",
        figure=f"{format_seconds(get_percentile(waits, 0.5))}, {format_seconds(late)}",
        compared_with=format_seconds(FIRST_LIMIT),
        ratio=late / FIRST_LIMIT,
        better="lower",
        target="p95 under 5 s",
        met=late < FIRST_LIMIT,
    )
    sequence = sorted(receiver.accepted.values())
    whole = sequence == list(range(1, 2 * SINGLE + EVENTS + 1))
    yield Figure(
        label=f"{running.profile}: {EVENTS:,} deliveries to a receiver that often fails",
        figure=f"{format_seconds(took)}, {format_rate(sum(receiver.attempts.values()) / took)}",
        target="each at least once, gapless",
        met=whole,
    )
    yield Figure(
        label=f"{running.profile}: wrong signatures or changed bodies",
        figure=f"{len(receiver.faults)} of {sum(receiver.attempts.values()):,} attempts",
        target="none",
        met=not receiver.faults,
    )


async def _measure(server: Server) -> tuple[list[float], float, UnsteadyReceiver]:
    receiver = UnsteadyReceiver()
    listener = await asyncio.start_server(receiver.serve, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    receiver.secret = await asyncio.to_thread(_add_webhook, server, port)
    runs = list(server.contents.runs)
    async with httpx.AsyncClient(base_url=f"{server.url}/api/v1", timeout=60) as client:
        paused = {}
        for run in runs[:SINGLE]:
            paused[run.code] = await _pause(client, run)
            await asyncio.sleep(0.15)
        await _wait_for_deliveries(receiver, 2 * SINGLE)
        waits = [receiver.arrivals[code] - at for code, at in paused.items()]
        receiver.steady = False
        began = perf_counter()
        shares = [runs[SINGLE + number :: AGENTS] for number in range(AGENTS)]
        await asyncio.gather(*(_pause_all(client, each) for each in shares))
        await _wait_for_deliveries(receiver, 2 * SINGLE + EVENTS)
    took = perf_counter() - began
    listener.close()
    return waits, took, receiver


def _add_webhook(server: Server, port: int) -> str:
    """Add a webhook as a new manager; return its secret."""
    environment = {"PATH": "", "CHECKRAIL_DATA": str(server.folder)}
    command = ["manage.py", "user_add", "alice", "--role", "manager"]
    made = subprocess.run(
        [sys.executable, *command, "--project", "bench", "--json"],
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
    )
    token = json.loads(made.stdout)["token"]
    answer = httpx.post(
        f"{server.url}/api/v1/webhooks",
        headers={"Authorization": f"Bearer {token}"},
        json={
            "url": f"http://127.0.0.1:{port}/",
            "types": ["review.opened", "run.paused"],
        },
    )
    answer.raise_for_status()
    secret: str = answer.json()["secret"]
    return secret


async def _pause_all(client: httpx.AsyncClient, runs: Sequence[PreparedRun]) -> None:
    for run in runs:
        await _pause(client, run)


async def _pause(client: httpx.AsyncClient, run: PreparedRun) -> float:
    """One step that pauses the run; when that was answered."""
    answer = await client.post(
        f"/runs/{run.code}/steps",
        json=PAUSING,
        headers={"Authorization": f"Bearer {run.key}"},
    )
    if answer.status_code != 201 or answer.json()["decision"] != "pause":
        raise RuntimeError(f"The run was not paused: {answer.text}")
    return perf_counter()


async def _wait_for_deliveries(receiver: UnsteadyReceiver, count: int) -> None:
    ends = perf_counter() + PATIENCE_S
    while len(receiver.accepted) < count:
        if perf_counter() > ends:
            raise RuntimeError(f"Only {len(receiver.accepted):,} of {count:,} arrived.")
        await asyncio.sleep(0.05)
