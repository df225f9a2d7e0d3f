"""`python -m bench [NAME]`: measure everything, or one subject, and print a table."""

from __future__ import annotations

import argparse
import os
import platform
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from bench.figures import Figure, render_table
from bench.last_figures import (
    PATH,
    TOLERANCE,
    compare,
    describe_faults,
    keep_figures,
    read_last_figures,
    take_better,
)
from bench.measurements.backtest import (
    DECISIONS,
    measure_backtest_on_postgres,
    measure_backtest_on_sqlite,
)
from bench.measurements.batches import AGENTS as REPORTERS
from bench.measurements.batches import measure_batches
from bench.measurements.bytes_on_disk import RUNS as FILLED
from bench.measurements.bytes_on_disk import STEPS, measure_bytes
from bench.measurements.calls import measure_calls
from bench.measurements.flood import AGENTS as FEW
from bench.measurements.flood import KEY_RATE, measure_flood
from bench.measurements.growth import MINUTES, measure_growth
from bench.measurements.halt import (
    BUSY,
    PARKED,
    REVIEWS,
    measure_halt_on_postgres,
    measure_halt_on_sqlite,
)
from bench.measurements.import_time import measure_import_time
from bench.measurements.limits import measure_limits
from bench.measurements.pages import (
    measure_pages_on_postgres,
    measure_pages_on_sqlite,
)
from bench.measurements.processes import COUNTS, PROJECTS, measure_processes
from bench.measurements.queue import OPEN, RUNS, measure_queue
from bench.measurements.schemas import COUNT as SCHEMAS
from bench.measurements.schemas import measure_schemas
from bench.measurements.steps import AGENTS, measure_on_postgres, measure_on_sqlite
from bench.measurements.streams import STREAMS, measure_streams
from bench.measurements.waiting import COUNTS as WAITERS
from bench.measurements.waiting import REVIEWS as WAITED_FOR
from bench.measurements.waiting import measure_waiting
from bench.measurements.waking import WAITING, measure_peers, measure_waking
from bench.measurements.webhooks import MANY as PAUSED
from bench.measurements.webhooks import SINGLE, measure_webhooks
from bench.servers.launch import start_postgres_server, start_sqlite_server

# One key and one run have all the streams, which the usual limits would refuse.
STREAM_LIMITS = {
    "CHECKRAIL_STREAMS_PER_KEY": str(STREAMS),
    "CHECKRAIL_STREAMS_PER_RUN": str(STREAMS),
}
# All agents of a measurement come from one address.
ONE_ADDRESS = {
    "CHECKRAIL_CONNECTIONS": "16000",
    "CHECKRAIL_ADDRESS_CONNECTIONS": "8000",
}
USUAL_RATE = {"CHECKRAIL_KEY_RATE": KEY_RATE}
LOCAL_WEBHOOKS = {"CHECKRAIL_WEBHOOK_ALLOW": "127.0.0.0/8"}


@dataclass(frozen=True)
class Measurement:
    """`parts` are measured one after the other, each on a server of its own."""

    help: str
    parts: Sequence[Callable[[], Iterator[Figure]]]


def _measure_processes(*, projects: int) -> Iterator[Figure]:
    server = start_postgres_server(runs=AGENTS, projects=projects)
    return measure_processes(server, projects=projects)


MEASUREMENTS = {
    "steps": Measurement(
        "steps over HTTP, beside what the bare databases do",
        (
            lambda: measure_on_postgres(start_postgres_server(runs=AGENTS)),
            lambda: measure_on_sqlite(start_sqlite_server(runs=AGENTS)),
            lambda: measure_limits(start_postgres_server(runs=AGENTS, children=AGENTS)),
            lambda: measure_limits(start_sqlite_server(runs=AGENTS, children=AGENTS)),
        ),
    ),
    "batches": Measurement(
        "steps over HTTP, a hundred a request",
        (
            lambda: measure_batches(start_postgres_server(runs=max(REPORTERS))),
            lambda: measure_batches(start_sqlite_server(runs=max(REPORTERS))),
        ),
    ),
    "processes": Measurement(
        f"steps to 1 to {COUNTS[-1]} processes on one PostgreSQL",
        tuple(partial(_measure_processes, projects=projects) for projects in PROJECTS),
    ),
    "calls": Measurement(
        "tool calls over HTTP, beside steps",
        (
            lambda: measure_calls(start_postgres_server(runs=2 * AGENTS)),
            lambda: measure_calls(start_sqlite_server(runs=2 * AGENTS)),
        ),
    ),
    "waiting": Measurement(
        f"what {WAITERS[-1]:,} agents cost that wait for a person",
        (
            lambda: measure_waiting(
                start_postgres_server(reviews=WAITED_FOR, variables=ONE_ADDRESS)
            ),
            lambda: measure_waiting(
                start_sqlite_server(reviews=WAITED_FOR, variables=ONE_ADDRESS)
            ),
        ),
    ),
    "waking": Measurement(
        "time from a ruling to the agent that goes on, beside other programs",
        (
            lambda: measure_waking(start_postgres_server(reviews=WAITING)),
            lambda: measure_waking(start_sqlite_server(reviews=WAITING)),
            measure_peers,
        ),
    ),
    "streams": Measurement(
        f"an agent's call beside {STREAMS:,} event streams of others",
        (
            lambda: measure_streams(
                start_postgres_server(runs=2, variables=STREAM_LIMITS)
            ),
            lambda: measure_streams(
                start_sqlite_server(runs=2, variables=STREAM_LIMITS)
            ),
        ),
    ),
    "flood": Measurement(
        "another project's steps while two keys flood the server",
        (
            lambda: measure_flood(
                start_postgres_server(runs=FEW, variables=USUAL_RATE)
            ),
            lambda: measure_flood(start_sqlite_server(runs=FEW, variables=USUAL_RATE)),
        ),
    ),
    "schemas": Measurement(
        f"{SCHEMAS} generated JSON Schemas, and calls judged by them",
        (measure_schemas,),
    ),
    "webhooks": Measurement(
        f"{2 * PAUSED:,} deliveries to a receiver that often fails",
        (
            lambda: measure_webhooks(
                start_sqlite_server(runs=SINGLE + PAUSED, variables=LOCAL_WEBHOOKS)
            ),
        ),
    ),
    "queue": Measurement(
        f"a queue of {OPEN:,}: its page, and what open pages hear of changes",
        (
            lambda: measure_queue(start_postgres_server(runs=RUNS, mixed=OPEN)),
            lambda: measure_queue(start_sqlite_server(runs=RUNS, mixed=OPEN)),
        ),
    ),
    "halt": Measurement(
        f"a halt of {PARKED:,} parked and {BUSY} busy agents",
        (
            lambda: measure_halt_on_postgres(
                start_postgres_server(runs=BUSY, reviews=REVIEWS, variables=ONE_ADDRESS)
            ),
            lambda: measure_halt_on_sqlite(
                start_sqlite_server(runs=BUSY, reviews=REVIEWS, variables=ONE_ADDRESS)
            ),
        ),
    ),
    "bytes": Measurement(
        f"bytes on disk for each of {STEPS:,} steps, by table and index",
        (
            lambda: measure_bytes(start_postgres_server(runs=FILLED)),
            lambda: measure_bytes(start_sqlite_server(runs=FILLED)),
        ),
    ),
    "backtest": Measurement(
        f"{DECISIONS:,} stored decisions judged again by a draft",
        (measure_backtest_on_postgres, measure_backtest_on_sqlite),
    ),
    "importing": Measurement(
        "how long `import checkrail` takes", (measure_import_time,)
    ),
}
# These take minutes, so they are measured only when they are asked for by name.
GROWING = "growing"
PAGES = "pages"
PAGES_HELP = "pages and figures beside 5 million steps (only by this name)"
GROWING_HELP = "steps and sizes before and after minutes of load (only by this name)"
# Their peers are measured in the same run, so that a slow machine changes no ratio.
CHECKED = ("steps", "calls")


def main(arguments: Sequence[str]) -> int:
    parser = _build_parser()
    options = parser.parse_args(arguments)
    only: str | None = options.name
    if options.check and only not in {None, *CHECKED}:
        parser.error(f"only {' and '.join(CHECKED)} can be checked")
    measurements = MEASUREMENTS
    if only == GROWING:
        seconds = 60 * options.minutes
        parts = tuple(
            partial(measure_growth, start(runs=AGENTS + 1), seconds=seconds)
            for start in (start_postgres_server, start_sqlite_server)
        )
        measurements = {GROWING: Measurement(GROWING_HELP, parts)}
    elif only == PAGES:
        pages = (measure_pages_on_postgres, measure_pages_on_sqlite)
        measurements = {PAGES: Measurement(PAGES_HELP, pages)}
    # SIGTERM unwinds like Ctrl-C does, so that servers and folders are cleared away.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    began = time.monotonic()
    names = [only] if only else CHECKED if options.check else tuple(measurements)
    measured = {name: _measure(name, measurements[name]) for name in names}
    if options.check:
        for name in _list_worse(measured):
            print(f"bench: {name} looks worse than last, so once more", flush=True)
            again = _measure(name, measurements[name])
            measured[name] = take_better(measured[name], again)
    faults = _print_figures(measured)
    load = os.getloadavg()[0]
    print(
        f"bench: {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"load {load:.1f}, {time.monotonic() - began:.0f} seconds"
    )
    if options.keep:
        keep_figures(measured)
        print(f"bench: kept in {PATH.relative_to(PATH.parents[1])}")
    if options.check and faults:
        print(
            f"bench: worse by more than {100 * TOLERANCE:.0f} %, or not to be compared:"
        )
        print("\n".join(f"  {fault}" for fault in faults))
        return 1
    return 0


def _measure(name: str, measurement: Measurement) -> list[Figure]:
    figures: list[Figure] = []
    for measure in measurement.parts:
        print(f"bench: measuring {name} …", flush=True)
        figures += measure()
    return figures


def _list_worse(measured: Mapping[str, Sequence[Figure]]) -> list[str]:
    last = read_last_figures()
    return [
        name
        for name, figures in measured.items()
        if any(each.worse for each in compare(figures, last.get(name)))
    ]


def _print_figures(measured: Mapping[str, Sequence[Figure]]) -> list[str]:
    """Print all as one table, and where the last ones are from; what is worse, gone or never kept."""
    last = read_last_figures()
    compared = [
        each
        for name, some in measured.items()
        for each in compare(some, last.get(name))
    ]
    figures = [figure for each in measured.values() for figure in each]
    cells = {each.label: each.cells for each in compared}
    print(f"\n{render_table(figures, cells)}\n")
    for name in measured:
        where = last[name].describe() if name in last else "nothing is kept"
        print(f"bench: last {name}: {where}")
    return [
        *(f"{name}: nothing is kept" for name in measured if name not in last),
        *describe_faults(compared),
    ]


def _build_parser() -> argparse.ArgumentParser:
    helps = {name: each.help for name, each in MEASUREMENTS.items()}
    helps |= {GROWING: GROWING_HELP, PAGES: PAGES_HELP}
    lines = [f"  {name:<10} {text}" for name, text in helps.items()]
    parser = argparse.ArgumentParser(
        prog="bench",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=(
            "Measure how fast Checkrail is. Each figure stands beside a limit, or beside\n"
            "the bare database or another program measured in the same run."
        ),
        epilog="\n".join(
            [
                "measurements:",
                *lines,
                "",
                "Without a name all are measured, which takes about eight minutes. Servers "
                "run on",
                "127.0.0.1 with databases of their own, which are deleted afterwards. "
                "p50 is the",
                "median, p99 what 99 of 100 do not exceed. For the gates: python -m "
                "bench.gates",
                "",
                "last is the ratio that was kept and committed, change how much larger "
                "the ratio is.",
            ]
        ),
    )
    parser.add_argument(
        "name",
        nargs="?",
        choices=list(helps),
        metavar="NAME",
        help="measure this alone",
    )
    parser.add_argument(
        "--minutes",
        type=float,
        default=MINUTES,
        help=f"of load for {GROWING}, on each database; {MINUTES:.0f} if not given",
    )
    verdicts = parser.add_mutually_exclusive_group()
    verdicts.add_argument(
        "--keep",
        action="store_true",
        help="write what was measured as the last figures, to be committed",
    )
    verdicts.add_argument(
        "--check",
        action="store_true",
        help=f"measure {' and '.join(CHECKED)}, or one of them, and end with 1 where a "
        f"ratio is worse than last by more than {100 * TOLERANCE:.0f} %%",
    )
    return parser


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
