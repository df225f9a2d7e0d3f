"""Two keys flood the server with reviews, or with long calls: what do agents of another
project feel?

The server runs with the limits that it has by default. A flood goes on as fast as it is
answered, whatever the answer is, from a process of its own.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager
from time import monotonic

import uvloop

from bench.clients.agents import WARM_UP_SECONDS, Load, report_steps
from bench.clients.connection import Connection, build_request, connect
from bench.figures import Figure, format_milliseconds
from bench.servers.launch import Server

AGENTS = 4
CONNECTIONS = 24
CALLS_A_RUN = 20
# Twelve thousand characters that nobody needs to be asked about.
LONG_SCRIPT = "\n".join(f"echo 'part {n} of the build is done'" for n in range(330))
ALONE_SECONDS = 4.0
FLOOD_SECONDS = 12.0
# Around the steps that are timed, so that all of them fall into the flood.
MARGIN_SECONDS = 2.0
LIMIT_SECONDS = 0.1
# The server's own default, which the other measurements lift.
KEY_RATE = "200"


def build_reviewed(name: str) -> str:
    return f"rm -rf build-{name}"


def build_long(name: str) -> str:
    return f"{LONG_SCRIPT}\necho {name}"


FLOODS = {"reviews": build_reviewed, "long calls": build_long}


def measure_flood(server: AbstractContextManager[Server]) -> Iterator[Figure]:
    """Take a server with AGENTS runs and with this KEY_RATE."""
    spawn = multiprocessing.get_context("spawn")
    with server as running, ProcessPoolExecutor(1, mp_context=spawn) as flooder:
        flooder.submit(int).result()  # it has started before anything is timed
        what = (
            f"{running.profile}: another project's step, {AGENTS} agents, p50 and p99"
        )
        before = _run_agents(running, seconds=ALONE_SECONDS)
        yield Figure(label=f"{what}, before", figure=_format_latencies(before))
        seconds = FLOOD_SECONDS + WARM_UP_SECONDS + MARGIN_SECONDS
        for flood in FLOODS:
            flooding = flooder.submit(
                send_flood, running.url, running.contents.strangers, flood, seconds
            )
            during = _run_agents(running, seconds=FLOOD_SECONDS)
            answered = flooding.result()
            yield Figure(
                label=f"{what}, during a flood of {flood}",
                figure=_format_latencies(during),
                target=f"p99 under {format_milliseconds(LIMIT_SECONDS)}",
                met=during.get_latency(0.99) < LIMIT_SECONDS,
            )
            told = (f"{count:,} {word}" for word, count in answered.most_common())
            yield Figure(
                label=f"{running.profile}: answers to {flood} in {seconds:.0f} s",
                figure=", ".join(told),
            )
        after = _run_agents(running, seconds=ALONE_SECONDS)
        yield Figure(label=f"{what}, after it", figure=_format_latencies(after))


def _run_agents(server: Server, *, seconds: float) -> Load:
    load = report_steps(server.url, server.contents.runs[:AGENTS], seconds=seconds)
    if load.refusals:
        raise RuntimeError(f"Steps were refused: {dict(load.refusals)}")
    return load


def _format_latencies(load: Load) -> str:
    return ", ".join(
        format_milliseconds(load.get_latency(part)) for part in (0.5, 0.99)
    )


def send_flood(url: str, keys: list[str], flood: str, seconds: float) -> Counter[str]:
    """How often each answer was given: a call's decision, or the status of a refusal."""
    return uvloop.run(_flood(url, keys, flood, seconds))


async def _flood(url: str, keys: list[str], flood: str, seconds: float) -> Counter[str]:
    end = monotonic() + seconds
    answers: Counter[str] = Counter()
    connections = [await connect(url) for _ in range(CONNECTIONS)]
    await asyncio.gather(
        *(
            _flood_one(
                connection,
                number,
                url=url,
                key=keys[number % len(keys)],
                build_command=FLOODS[flood],
                end=end,
                answers=answers,
            )
            for number, connection in enumerate(connections)
        )
    )
    for connection in connections:
        connection.close()
    return answers


async def _flood_one(
    connection: Connection,
    number: int,
    *,
    url: str,
    key: str,
    build_command: Callable[[str], str],
    end: float,
    answers: Counter[str],
) -> None:
    """Run after run, each with as many calls as it may have."""

    async def post(path: str, body: dict[str, str]) -> dict[str, str]:
        raw = json.dumps(body).encode()
        answer = await connection.ask(
            build_request("POST", path, url=url, secret=key, body=raw)
        )
        told: dict[str, str] = json.loads(answer.body)
        created = answer.status == 201
        answers[told.get("decision", "runs") if created else str(answer.status)] += 1
        return told if created else {}

    count = 0
    while monotonic() < end:
        run = await post("/runs", {"task": f"Flood {number}"})
        for _ in range(CALLS_A_RUN if run else 0):
            count += 1
            command = build_command(f"{number}-{count}")
            call = {"kind": "command", "tool": "Bash", "command": command}
            await post(f"/runs/{run['id']}/tool-calls", call)
            if monotonic() >= end:
                return
