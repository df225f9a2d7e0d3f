"""What a stored step takes on disk, table by table and index by index."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    """Ordinary steps, sent in turns as the client does: their numbers are their keys. Then
    the same with an Idempotency-Key each, which is kept for some days."""
    with server as running:
        sizes = [list_part_sizes(running.database)]
        for with_keys in (False, True):
            _send_steps(running.url, running.contents.runs, steps, with_keys=with_keys)
            sizes.append(list_part_sizes(running.database))
    grown, grown_with_keys = map(_subtract, sizes[1:], sizes)
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
    yield Figure(
        label=f"{running.profile}: the same with an Idempotency-Key each",
        figure=f"{sum(grown_with_keys.values()) / steps:,.0f}",
    )
    for name, size in sorted(grown.items(), key=lambda part: -part[1]):
        if size >= SHOWN_BYTES * steps:
            yield Figure(
                label=f"{running.profile}: {name}", figure=f"{size / steps:,.0f}"
            )


def _subtract(after: Mapping[str, int], before: Mapping[str, int]) -> dict[str, int]:
    return {name: size - before.get(name, 0) for name, size in after.items()}


def _send_steps(
    url: str, runs: Sequence[PreparedRun], steps: int, *, with_keys: bool
) -> None:
    with httpx.Client(base_url=f"{url}/api/v1", timeout=60) as client:
        for place in range(steps):
            run = runs[place % len(runs)]
            key = {"idempotency-key": f"{run.code}-{run.next_step}"}
            client.post(
                f"/runs/{run.code}/steps",
                content=build_step_body(run.next_step),
                headers={
                    "authorization": f"Bearer {run.key}",
                    "content-type": "application/json",
                    **(key if with_keys else {}),
                },
            ).raise_for_status()
            run.next_step += 1
