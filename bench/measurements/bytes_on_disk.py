"""What a stored step takes on disk, table by table and index by index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager

import httpx

from bench.clients.agents import build_step_body
from bench.figures import Figure
from bench.servers.contents import PreparedRun
from bench.servers.launch import Server
from bench.servers.table_sizes import list_part_sizes

RUNS = 20
STEPS = 2_000
WANTED_BYTES = 1_000
# What a step takes less of is not shown by itself.
SHOWN_BYTES = 5


def measure_bytes(
    server: AbstractContextManager[Server], *, steps: int = STEPS
) -> Iterator[Figure]:
    """Ordinary steps, each sent with a key of its own as the client does, in turns."""
    with server as running:
        before = list_part_sizes(running.database)
        _send_steps(running.url, running.contents.runs, steps)
        after = list_part_sizes(running.database)
    grown = {name: size - before.get(name, 0) for name, size in after.items()}
    every = sum(grown.values()) / steps
    yield Figure(
        label=f"{running.profile}: bytes on disk for each step, indexes included",
        figure=f"{every:,.0f}",
        compared_with=f"wanted: {WANTED_BYTES:,}",
        ratio=every / WANTED_BYTES,
        better="lower",
        target=f"at most {WANTED_BYTES:,}",
        met=every <= WANTED_BYTES,
    )
    for name, size in sorted(grown.items(), key=lambda part: -part[1]):
        if size >= SHOWN_BYTES * steps:
            yield Figure(
                label=f"{running.profile}: {name}", figure=f"{size / steps:,.0f}"
            )


def _send_steps(url: str, runs: Sequence[PreparedRun], steps: int) -> None:
    with httpx.Client(base_url=f"{url}/api/v1", timeout=60) as client:
        for place in range(steps):
            run = runs[place % len(runs)]
            client.post(
                f"/runs/{run.code}/steps",
                content=build_step_body(run.next_step),
                headers={
                    "authorization": f"Bearer {run.key}",
                    "content-type": "application/json",
                    "idempotency-key": f"{run.code}-{run.next_step}",
                },
            ).raise_for_status()
            run.next_step += 1
