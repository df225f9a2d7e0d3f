"""`python -m bench [NAME]`: measure everything, or one subject, and print a table."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bench.figures import Figure, render_table
from bench.measurements.backtest import (
    DECISIONS,
    measure_backtest_on_postgres,
    measure_backtest_on_sqlite,
)
from bench.measurements.calls import measure_calls
from bench.measurements.flood import AGENTS as FEW
from bench.measurements.flood import KEY_RATE, measure_flood
from bench.measurements.growth import SECONDS, measure_growth
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
from bench.measurements.queue import OPEN, RUNS, measure_queue
from bench.measurements.steps import AGENTS, measure_on_postgres, measure_on_sqlite
from bench.measurements.streams import STREAMS, measure_streams
from bench.measurements.waiting import MANY, measure_waiting
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
    "calls": Measurement(
        "tool calls over HTTP, beside steps",
        (
            lambda: measure_calls(start_postgres_server(runs=2 * AGENTS)),
            lambda: measure_calls(start_sqlite_server(runs=2 * AGENTS)),
        ),
    ),
    "waiting": Measurement(
        f"what {MANY:,} agents cost that wait for a person",
        (
            lambda: measure_waiting(start_postgres_server(reviews=MANY)),
            lambda: measure_waiting(start_sqlite_server(reviews=MANY)),
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
        "another project's steps while one key floods the review queue",
        (
            lambda: measure_flood(
                start_postgres_server(runs=FEW, variables=USUAL_RATE)
            ),
            lambda: measure_flood(start_sqlite_server(runs=FEW, variables=USUAL_RATE)),
        ),
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
GROWING_HELP = "an agent's step before and after minutes of load (only by this name)"


def main(arguments: Sequence[str]) -> int:
    options = _build_parser().parse_args(arguments)
    only: str | None = options.name
    measurements = MEASUREMENTS
    if only == GROWING:
        server = start_postgres_server(runs=AGENTS + 1)
        growth = lambda: measure_growth(server, seconds=options.seconds)  # noqa: E731
        measurements = {GROWING: Measurement(GROWING_HELP, (growth,))}
    elif only == PAGES:
        parts = (measure_pages_on_postgres, measure_pages_on_sqlite)
        measurements = {PAGES: Measurement(PAGES_HELP, parts)}
    # SIGTERM unwinds like Ctrl-C does, so that servers and folders are cleared away.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    began = time.monotonic()
    figures: list[Figure] = []
    for name in [only] if only else measurements:
        for measure in measurements[name].parts:
            print(f"bench: measuring {name} …", flush=True)
            figures += measure()
    print(f"\n{render_table(figures)}\n")
    load = os.getloadavg()[0]
    print(
        f"bench: {os.cpu_count()} cores, load {load:.1f}, "
        f"{time.monotonic() - began:.0f} seconds"
    )
    return 0


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
        "--seconds",
        type=int,
        default=SECONDS,
        help=f"seconds of load for {GROWING}; {SECONDS} if not given",
    )
    return parser


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
