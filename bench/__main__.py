"""python -m bench [NAME]: measure all, or this alone, and print one table."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence

from bench.figures import Figure, table
from bench.measurements.calls import calls
from bench.measurements.flood import AGENTS as FEW
from bench.measurements.flood import KEY_RATE, flood
from bench.measurements.growth import SECONDS, growing
from bench.measurements.import_time import importing
from bench.measurements.steps import AGENTS, steps_on_postgres, steps_on_sqlite
from bench.measurements.streams import STREAMS, streams
from bench.measurements.waiting import MANY, waiting
from bench.measurements.waking import PARKED, waking, waking_peers
from bench.measurements.webhooks import MANY as PAUSED
from bench.measurements.webhooks import SINGLE, webhooks
from bench.servers.launch import postgres_site, sqlite_site

# One key and one run have all of them, which the limits would not let happen.
FOLLOWERS = str(STREAMS)
MEASUREMENTS: dict[str, Sequence[Callable[[], Iterator[Figure]]]] = {
    "steps": (
        lambda: steps_on_postgres(postgres_site(runs=AGENTS)),
        lambda: steps_on_sqlite(sqlite_site(runs=AGENTS)),
    ),
    "calls": (
        lambda: calls(postgres_site(runs=2 * AGENTS)),
        lambda: calls(sqlite_site(runs=2 * AGENTS)),
    ),
    "waiting": (
        lambda: waiting(postgres_site(reviews=MANY)),
        lambda: waiting(sqlite_site(reviews=MANY)),
    ),
    "waking": (
        lambda: waking(postgres_site(reviews=PARKED)),
        lambda: waking(sqlite_site(reviews=PARKED)),
        waking_peers,
    ),
    "streams": (
        lambda: streams(
            postgres_site(
                runs=2,
                CHECKRAIL_STREAMS_PER_KEY=FOLLOWERS,
                CHECKRAIL_STREAMS_PER_RUN=FOLLOWERS,
            )
        ),
        lambda: streams(
            sqlite_site(
                runs=2,
                CHECKRAIL_STREAMS_PER_KEY=FOLLOWERS,
                CHECKRAIL_STREAMS_PER_RUN=FOLLOWERS,
            )
        ),
    ),
    "flood": (
        lambda: flood(postgres_site(runs=FEW, CHECKRAIL_KEY_RATE=KEY_RATE)),
        lambda: flood(sqlite_site(runs=FEW, CHECKRAIL_KEY_RATE=KEY_RATE)),
    ),
    "webhooks": (
        lambda: webhooks(
            sqlite_site(runs=SINGLE + PAUSED, CHECKRAIL_WEBHOOK_ALLOW="127.0.0.0/8")
        ),
    ),
    "importing": (importing,),
}
# Takes minutes, so it is measured only when it is asked for by name.
GROWING = "growing"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="bench", description="Measure, beside the limits of the databases."
    )
    names = [*MEASUREMENTS, GROWING]
    parser.add_argument("what", nargs="?", choices=names, help="only this")
    parser.add_argument(
        "--seconds", type=int, default=SECONDS, help=f"of load, for {GROWING}"
    )
    options = parser.parse_args(arguments)
    only: str | None = options.what
    measurements = MEASUREMENTS
    if only == GROWING:
        site = postgres_site(runs=AGENTS + 1)
        measurements = {GROWING: (lambda: growing(site, seconds=options.seconds),)}
    # SIGTERM unwinds like Ctrl-C does, so that servers and folders are cleared away.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    began = time.monotonic()
    figures: list[Figure] = []
    for name in [only] if only else measurements:
        for measure in measurements[name]:
            print(f"bench: measuring {name} …", flush=True)
            figures += measure()
    print(f"\n{table(figures)}\n")
    load = os.getloadavg()[0]
    print(
        f"bench: {os.cpu_count()} cores, load {load:.1f}, "
        f"{time.monotonic() - began:.0f} seconds"
    )
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
