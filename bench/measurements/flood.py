"""One key floods the queue with reviews: what do agents of another project feel?

The server runs with the limits that it has by default. The flood goes on as fast as it is
answered, whatever the answer is, from a process of its own.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager
from time import monotonic

import uvloop

from bench.clients.agents import WARM_UP_SECONDS, Load, report_steps
from bench.clients.connection import Line, connect, request
from bench.figures import Figure, milliseconds
from bench.servers.launch import Site

AGENTS = 4
CONNECTIONS = 16
CALLS_A_RUN = 20
ALONE_SECONDS = 4.0
FLOOD_SECONDS = 12.0
# Around the steps that are timed, so that all of them fall into the flood.
MARGIN_SECONDS = 2.0
LIMIT_SECONDS = 0.1
# The server's own default, which the other measurements lift.
KEY_RATE = "200"


def flood(site: AbstractContextManager[Site]) -> Iterator[Figure]:
    """Needs a site with AGENTS runs and with this KEY_RATE."""
    spawn = multiprocessing.get_context("spawn")
    with site as here, ProcessPoolExecutor(1, mp_context=spawn) as flooder:
        flooder.submit(int).result()  # it has started before anything is timed
        before = _steps(here, seconds=ALONE_SECONDS)
        seconds = FLOOD_SECONDS + WARM_UP_SECONDS + MARGIN_SECONDS
        flooding = flooder.submit(send_flood, here.url, here.stage.stranger, seconds)
        during = _steps(here, seconds=FLOOD_SECONDS)
        answered = flooding.result()
        after = _steps(here, seconds=ALONE_SECONDS)
    what = f"{here.profile}: another project's step, {AGENTS} agents, p50 and p99"
    for name, load in (("before", before), ("during a flood", during)):
        late = load.latency(0.99)
        yield Figure(
            what=f"{what}, {name}",
            figure=_both(load),
            target=f"p99 under {milliseconds(LIMIT_SECONDS)}" if load is during else "",
            met=late < LIMIT_SECONDS if load is during else None,
        )
    yield Figure(what=f"{what}, after it", figure=_both(after))
    yield Figure(
        what=f"{here.profile}: what the flood was answered in {seconds:.0f} s",
        figure=", ".join(f"{count:,} {word}" for word, count in answered.most_common()),
    )


def _steps(site: Site, *, seconds: float) -> Load:
    load = report_steps(site.url, site.stage.runs[:AGENTS], seconds=seconds)
    if load.refused:
        raise RuntimeError(f"Steps were refused: {dict(load.refused)}")
    return load


def _both(load: Load) -> str:
    return ", ".join(milliseconds(load.latency(part)) for part in (0.5, 0.99))


def send_flood(url: str, key: str, seconds: float) -> Counter[str]:
    """How often each answer was given: a call's decision, or the status of a refusal."""
    return uvloop.run(_flood(url, key, seconds))


async def _flood(url: str, key: str, seconds: float) -> Counter[str]:
    end = monotonic() + seconds
    answers: Counter[str] = Counter()
    lines = [await connect(url) for _ in range(CONNECTIONS)]
    await asyncio.gather(
        *(
            _flood_one(line, number, url=url, key=key, end=end, answers=answers)
            for number, line in enumerate(lines)
        )
    )
    for line in lines:
        line.close()
    return answers


async def _flood_one(
    line: Line, number: int, *, url: str, key: str, end: float, answers: Counter[str]
) -> None:
    """Run after run, each with as many calls that need a person as it may have."""

    async def post(path: str, body: dict[str, str]) -> dict[str, str]:
        raw = json.dumps(body).encode()
        answer = await line.ask(request("POST", path, url=url, secret=key, body=raw))
        told: dict[str, str] = json.loads(answer.body)
        created = answer.status == 201
        answers[told.get("decision", "runs") if created else str(answer.status)] += 1
        return told if created else {}

    count = 0
    while monotonic() < end:
        run = await post("/runs", {"task": f"Flood {number}"})
        for _ in range(CALLS_A_RUN if run else 0):
            count += 1
            command = f"rm -rf build-{number}-{count}"
            call = {"kind": "command", "tool": "Bash", "command": command}
            await post(f"/runs/{run['id']}/tool-calls", call)
            if monotonic() >= end:
                return
