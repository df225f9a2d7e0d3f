"""A real PostgreSQL and a real Redis for the length of a `with` block.

Servers named by DATABASE_URL and REDIS_URL are used as they are. Otherwise a server
that already answers on loopback is taken if it suits, and failing that one is started
for the occasion.

    python -m tests.runner.services COMMAND ...    run a command with both variables set
"""

from __future__ import annotations

import os
import pwd
import secrets
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import redis
from psycopg.sql import SQL, Identifier

from tests.runner.servers import own_postgres, own_redis

POSTGRES_PORT = 5432
REDIS_PORT = 6379


@contextmanager
def services(*, data: Path | None = None) -> Iterator[dict[str, str]]:
    """DATABASE_URL and REDIS_URL that answer, with a line about where each is from.

    A database of our own keeps its files below `data`, else among temporary files.
    """
    with (
        tempfile.TemporaryDirectory(prefix="checkrail-services-") as folder,
        tempfile.TemporaryDirectory(prefix="checkrail-database-", dir=data) as rows,
        _postgres(Path(folder), Path(rows)) as database_url,
        _redis(Path(folder)) as redis_url,
    ):
        yield {"DATABASE_URL": database_url, "REDIS_URL": redis_url}


@contextmanager
def _postgres(folder: Path, data: Path) -> Iterator[str]:
    if url := os.environ.get("DATABASE_URL"):
        _say("PostgreSQL: the one DATABASE_URL names")
        yield url
    elif url := _postgres_on_loopback():
        _say(f"PostgreSQL: the one already running on port {POSTGRES_PORT}")
        with _scratch_database(url) as scratch:
            yield scratch
    else:
        with (
            own_postgres(folder, data=data) as server,
            _scratch_database(server.url) as scratch,
        ):
            _say(f"{server.name}: started for this run on port {server.port}")
            yield scratch


@contextmanager
def _redis(folder: Path) -> Iterator[str]:
    if url := os.environ.get("REDIS_URL"):
        _say("Redis: the one REDIS_URL names")
        yield url
    elif url := _redis_on_loopback():
        _say(f"Redis: an empty database of the one already running on {REDIS_PORT}")
        yield url
    else:
        with own_redis(folder) as server:
            _say(f"{server.name}: started for this run on port {server.port}")
            yield server.url


def _postgres_on_loopback() -> str | None:
    """Its address, if it lets us in without a password, may be filled and is durable."""
    for user in dict.fromkeys(["postgres", pwd.getpwuid(os.getuid()).pw_name]):
        url = f"postgresql://{user}@127.0.0.1:{POSTGRES_PORT}/postgres"
        try:
            with psycopg.connect(url, connect_timeout=2) as connection:
                suits = connection.execute(
                    "SELECT (rolsuper OR rolcreatedb)"
                    " AND current_setting('server_version_num')::int >= 140000"
                    " AND current_setting('fsync')::bool"
                    " AND current_setting('synchronous_commit') <> 'off'"
                    " FROM pg_roles WHERE rolname = current_user"
                ).fetchone()
        except psycopg.Error:
            continue
        if suits == (True,):
            return url
    return None


@contextmanager
def _scratch_database(url: str) -> Iterator[str]:
    """A database of a name that nobody has: tests replace the one they find."""
    name = f"checkrail_{secrets.token_hex(4)}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
        try:
            yield f"{url.removesuffix('/postgres')}/{name}"
        finally:
            drop = SQL("DROP DATABASE {} WITH (FORCE)")
            connection.execute(drop.format(Identifier(name)))


def _redis_on_loopback() -> str | None:
    """The address of an empty database in it: nobody's data may meet the tests'."""
    for number in range(15, 0, -1):
        url = f"redis://127.0.0.1:{REDIS_PORT}/{number}"
        try:
            with redis.Redis.from_url(url, socket_timeout=2) as client:
                if client.dbsize() == 0:
                    return url
        except redis.RedisError:
            return None
    return None


def _say(text: str) -> None:
    print(f"services: {text}", flush=True)


def main() -> int:
    # SIGTERM unwinds like Ctrl-C does, so the servers are stopped in good order.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with services() as urls:
        return subprocess.run(sys.argv[1:], env={**os.environ, **urls}).returncode


if __name__ == "__main__":
    sys.exit(main())
