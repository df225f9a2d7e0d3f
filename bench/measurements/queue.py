"""A queue of thousands: its page, and what an open page hears of each change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from time import perf_counter

import httpx
import uvloop

from bench.clients.changes import KINDS, Changes, make_burst
from bench.clients.live_pages import (
    LivePage,
    clear_pages,
    open_pages,
    wait_until_quiet,
)
from bench.figures import Figure, format_milliseconds, get_percentile
from bench.measurements.pages import run_program
from bench.servers.launch import Server
from bench.servers.process import read_processor_seconds, wait_until_idle
from bench.yardstick import measure_slowness

OPEN = 2_000
CHANGES = 45
SILENT_SECONDS = 0.5
BURST, AT_ONCE = 500, 20
SOCKETS = 200
ANSWERS = 15
# As many runs as reviews are asked for.
RUNS = CHANGES + BURST
LIMIT_S = 0.300
BYTES = 8_192
# The server gathers changes for so long before it tells of them: console/live/broadcaster.py.
PAUSE_S = 0.080
MESSAGES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One change: how long it took to the first page and to the last, and the bytes that
    each of them got for it."""

    first: float
    last: float
    sizes: Sequence[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Burst:
    """What each page got of many changes at once; `span` is how long they took."""

    span: float
    messages: Sequence[int]
    sizes: Sequence[int]


def measure_queue(server: AbstractContextManager[Server]) -> Iterator[Figure]:
    """Take a server with RUNS runs and OPEN mixed reviews."""
    with server as running:
        yield from _measure_page(running)
        slowness = measure_slowness()
        changes, burst, many = uvloop.run(_measure(running))
        slowness = (slowness + measure_slowness()) / 2
    name = running.profile
    yield from _build_change_figures(name, changes, slowness)
    few, most = min(burst.messages), max(burst.messages)
    yield Figure(
        label=f"{name}: {BURST} changes in a burst, messages to each page",
        figure=f"{few} to {most} in {burst.span:.1f} s, "
        f"{max(burst.sizes) / 1000:.0f} KB in all",
        compared_with=f"a handful: {MESSAGES}",
        ratio=most / MESSAGES,
        better="lower",
        target=f"at most {MESSAGES}",
        met=most <= MESSAGES,
    )
    lasts = [told.last for told in many]
    missing = SOCKETS - min(len(told.sizes) for told in many)
    yield Figure(
        label=f"{name}: a change to the last of {SOCKETS} pages of one process, p50",
        figure=f"{_format(get_percentile(lasts, 0.5), slowness)}, {missing} missed it",
        compared_with=f"limit: {format_milliseconds(LIMIT_S)}",
        ratio=_adjust(get_percentile(lasts, 0.5), slowness) / LIMIT_S,
        better="lower",
        target="all of them",
        met=not missing,
    )


def _measure_page(server: Server) -> Iterator[Figure]:
    """What the page computes, by the yardstick, and what a browser waits for it."""
    uvloop.run(wait_until_idle(server.pid))
    slowness, cpu = measure_slowness(), read_processor_seconds(server.pid)
    waited, size = _time_answers(server)
    each = (read_processor_seconds(server.pid) - cpu) / ANSWERS
    for page in run_program(
        server.environment, "page_times", "bench", "alice", "/queue/"
    ):
        computed = page["median_cpu_s"] / page["slowness"]
        yield Figure(
            label=f"{server.profile}: {page['page']}, {OPEN:,} open, p50 of what is computed",
            figure=f"{format_milliseconds(computed)} ({page['queries']} queries; here "
            f"{format_milliseconds(page['median_cpu_s'])}, waited "
            f"{format_milliseconds(page['median_s'])})",
            compared_with=f"limit: {format_milliseconds(LIMIT_S)}",
            ratio=computed / LIMIT_S,
            better="lower",
            target=f"under {format_milliseconds(LIMIT_S)}",
            met=computed < LIMIT_S,
        )
    yield Figure(
        label=f"{server.profile}: the queue page over HTTP, p50",
        figure=f"{format_milliseconds(get_percentile(waited, 0.5))}, "
        f"{size / 1000:.0f} KB (the server computed {format_milliseconds(each)} on a "
        f"machine that is {slowness:.1f} times slower)",
    )


def _time_answers(server: Server) -> tuple[list[float], int]:
    """Seconds of each answer over HTTP, and the page's bytes."""
    headers = {"Cookie": server.contents.cookies[0]}
    took, size = [], 0
    with httpx.Client(base_url=server.url, headers=headers, timeout=60) as browser:
        for _ in range(ANSWERS):
            began = perf_counter()
            answer = browser.get("/p/bench/queue/")
            took.append(perf_counter() - began)
            assert answer.status_code == 200, answer.status_code
            size = len(answer.content)
    return took[1:], size


async def _measure(server: Server) -> tuple[list[Told], Burst, list[Told]]:
    runs = list(server.contents.runs)
    pages = await open_pages(server, 1)
    changes = Changes(server, runs)
    alone = [await _tell(changes, pages) for _ in range(CHANGES)]
    await _close(pages)
    pages = await open_pages(server, len(server.contents.cookies))
    burst = await _make_burst(server, pages)
    await _close(pages)
    await wait_until_idle(server.pid)
    pages = await open_pages(server, SOCKETS)
    many = [await _tell(changes, pages) for _ in range(len(KINDS) * 3)]
    await _close(pages)
    return alone, burst, many


async def _tell(changes: Changes, pages: Sequence[LivePage]) -> Told:
    """Make a change, and wait until every page has heard of it and is silent again."""
    clear_pages(pages)
    began = perf_counter()
    review = await changes.make_next()
    arrived = [(await page.wait_for(review)).at - began for page in pages]
    await wait_until_quiet(pages, seconds=SILENT_SECONDS)
    return Told(
        first=min(arrived),
        last=max(arrived),
        sizes=[sum(message.size for message in page.got) for page in pages],
    )


async def _make_burst(server: Server, pages: Sequence[LivePage]) -> Burst:
    clear_pages(pages)
    began = perf_counter()
    spare = list(server.contents.runs)[CHANGES:]
    await make_burst(server, spare, count=BURST, at_once=AT_ONCE)
    span = perf_counter() - began
    await wait_until_quiet(pages)
    return Burst(
        span=span,
        messages=[len(page.got) for page in pages],
        sizes=[sum(message.size for message in page.got) for page in pages],
    )


async def _close(pages: Sequence[LivePage]) -> None:
    for page in pages:
        await page.close()


def _build_change_figures(
    name: str, changes: Sequence[Told], slowness: float
) -> Iterator[Figure]:
    for place, kind in enumerate(KINDS):
        told = changes[place :: len(KINDS)]
        median = get_percentile([each.first for each in told], 0.5)
        size = max(max(each.sizes) for each in told)
        yield Figure(
            label=f"{name}: {kind} sent → the open page hears of it, p50",
            figure=_format(median, slowness),
            compared_with=f"limit: {format_milliseconds(LIMIT_S)}",
            ratio=_adjust(median, slowness) / LIMIT_S,
            better="lower",
            target=f"under {format_milliseconds(LIMIT_S)}",
            met=_adjust(median, slowness) < LIMIT_S,
        )
        yield Figure(
            label=f"{name}: {kind}, bytes to each page, the most",
            figure=f"{size:,}",
            compared_with=f"limit: {BYTES:,}",
            ratio=size / BYTES,
            better="lower",
            target=f"under {BYTES:,}",
            met=size < BYTES,
        )


def _adjust(span: float, slowness: float) -> float:
    """What it would have taken on the machine of the limits: pauses are as long there."""
    return PAUSE_S + (span - PAUSE_S) / slowness


def _format(span: float, slowness: float) -> str:
    adjusted = format_milliseconds(_adjust(span, slowness))
    return f"{adjusted} (here {format_milliseconds(span)}, {slowness:.1f} times slower)"
