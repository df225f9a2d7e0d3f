"""How long a backtest takes, and whether its memory grows with what it judges."""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

from bench.figures import Figure, format_megabytes, format_seconds
from bench.servers.launch import build_environment, create_database
from tests.runner.services import services

DECISIONS = 100_000
LIMIT_S = 60.0
# So much may ten times as many decisions take beyond what the first tenth took.
GROWTH = 1.1


def measure_backtest_on_sqlite() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(prefix="checkrail-bench-") as name:
        environment = {**build_environment(), "CHECKRAIL_DATA": name}
        yield from _measure("SQLite", environment)


def measure_backtest_on_postgres() -> Iterator[Figure]:
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
        yield from _measure("PostgreSQL", environment)


def _measure(profile: str, environment: Mapping[str, str]) -> Iterator[Figure]:
    done = subprocess.run(
        [sys.executable, "-m", "bench.servers.backtest_history", str(DECISIONS)],
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    if found["judged"] != DECISIONS:
        raise RuntimeError(f"Only {found['judged']:,} decisions were judged.")
    # One thread: what it computes is what one core takes.
    yield Figure(
        label=f"{profile}: backtest of {DECISIONS:,} decisions, one core",
        figure=format_seconds(found["cpu"]),
        compared_with=f"limit: {format_seconds(LIMIT_S)}",
        ratio=found["cpu"] / LIMIT_S,
        better="lower",
        target=f"under {format_seconds(LIMIT_S)}",
        met=found["cpu"] < LIMIT_S,
    )
    yield Figure(
        label=f"{profile}: the same with waiting for the database and other work",
        figure=format_seconds(found["seconds"]),
    )
    before = found["memory_before"]
    yield Figure(
        label=f"{profile}: its memory at most",
        figure=format_megabytes(found["memory"]),
        compared_with=f"a tenth of them: {format_megabytes(before)}",
        ratio=found["memory"] / before,
        better="lower",
        target=f"at most {GROWTH} of that",
        met=found["memory"] <= GROWTH * before,
    )
