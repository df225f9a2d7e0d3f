"""How fast figures are counted, and how long pages take beside millions of steps."""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

from bench.figures import Figure, format_milliseconds, format_rate
from bench.servers.launch import build_environment, create_database
from tests.runner.services import services

# Runs, steps in all, and steps of the longest run.
POSTGRES = (50_000, 5_000_000, 5_000)
SQLITE = (2_000, 200_000, 5_000)
LIMIT_S = 0.150


def measure_pages_on_sqlite(size: tuple[int, int, int] = SQLITE) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(prefix="checkrail-bench-") as name:
        environment = {**build_environment(), "CHECKRAIL_DATA": name}
        yield from _measure("SQLite", environment, size)


def measure_pages_on_postgres(
    size: tuple[int, int, int] = POSTGRES,
) -> Iterator[Figure]:
    with (
        tempfile.TemporaryDirectory(prefix="checkrail-bench-") as name,
        services() as urls,
        create_database(urls["DATABASE_URL"]) as database,
    ):
        environment = {
            **build_environment(),
            **urls,
            "DATABASE_URL": database,
            "SECRET_KEY": secrets.token_urlsafe(48),
            "CHECKRAIL_DATA": name,
            "CHECKRAIL_HOSTS": "127.0.0.1",
            "CHECKRAIL_ORIGINS": "http://127.0.0.1",
        }
        yield from _measure("PostgreSQL", environment, size)


def _measure(
    profile: str, environment: Mapping[str, str], size: tuple[int, int, int]
) -> Iterator[Figure]:
    (made,) = run_program(environment, "many_runs", *map(str, size))
    yield Figure(
        label=f"{profile}: {made['runs']:,} runs, {made['entries']:,} entries stored",
        figure=format_rate(made["entries"] / made["copying_s"]),
    )
    yield Figure(
        label=f"{profile}: entries counted for the figures, one process",
        figure=format_rate(made["counted"] / made["counting_s"]),
    )
    # On SQLite this is all there is to do; PostgreSQL works beside it.
    yield Figure(
        label=f"{profile}: the same by what it computes",
        figure=format_rate(made["counted"] / made["counting_cpu_s"]),
    )
    for page in run_program(environment, "page_times", made["project"], made["person"]):
        # Other work on the machine makes all of it slower, as the yardstick tells.
        computed = page["cpu_s"] / page["slowness"]
        yield Figure(
            label=f"{profile}: {page['page']}, p95 of what is computed",
            figure=f"{format_milliseconds(computed)} ({page['queries']} queries; here "
            f"{format_milliseconds(page['cpu_s'])}, waited {format_milliseconds(page['p95_s'])})",
            compared_with=f"limit: {format_milliseconds(LIMIT_S)}",
            ratio=computed / LIMIT_S,
            better="lower",
            target=f"under {format_milliseconds(LIMIT_S)}",
            met=computed < LIMIT_S,
        )


def run_program(
    environment: Mapping[str, str], program: str, *given: str
) -> list[dict[str, Any]]:
    """The lines of JSON that a program of `bench.servers` prints."""
    done = subprocess.run(
        [sys.executable, "-m", f"bench.servers.{program}", *given],
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
    )
    return [
        json.loads(line) for line in done.stdout.splitlines() if line.startswith(b"{")
    ]
