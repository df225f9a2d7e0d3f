"""Checkrail as people run it, one web process, in each of its two profiles."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urlsplit, urlunsplit

import httpx
import psycopg

from bench.servers.contents import Contents, fill_database
from tests.runner.services import services

START_SECONDS = 60.0
STOP_SECONDS = 20.0
NO_VARIABLES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server that answers. `database` is a URL, or the path of SQLite's file; programs
    with its `environment` work on the same database."""

    profile: str
    url: str
    pid: int
    database: str
    folder: Path
    contents: Contents
    environment: Mapping[str, str]


@contextmanager
def start_sqlite_server(
    *,
    runs: int = 0,
    reviews: int = 0,
    children: int = 0,
    mixed: int = 0,
    variables: Mapping[str, str] = NO_VARIABLES,
) -> Iterator[Server]:
    """`manage.py up` on an empty folder; `variables` are added to its environment."""
    with tempfile.TemporaryDirectory(prefix="checkrail-bench-") as name:
        folder = Path(name)
        environment = {**build_environment(), "CHECKRAIL_DATA": name, **variables}
        contents = fill_database(
            environment, runs=runs, reviews=reviews, children=children, mixed=mixed
        )
        url = f"http://127.0.0.1:{_find_free_port()}"
        command = ["manage.py", "up", "--no-demo", "--port", str(urlsplit(url).port)]
        with _start_server(
            command, url=url, folder=folder, environment=environment
        ) as pid:
            yield Server(
                profile="SQLite",
                url=url,
                pid=pid,
                database=str(folder / "checkrail.sqlite3"),
                folder=folder,
                contents=contents,
                environment=environment,
            )


@contextmanager
def start_postgres_server(
    *,
    runs: int = 0,
    reviews: int = 0,
    children: int = 0,
    mixed: int = 0,
    projects: int = 1,
    variables: Mapping[str, str] = NO_VARIABLES,
) -> Iterator[Server]:
    """`uvicorn --workers 1` on a database of its own; `variables` as above."""
    with (
        tempfile.TemporaryDirectory(prefix="checkrail-bench-") as name,
        services() as urls,
        create_database(urls["DATABASE_URL"]) as database,
    ):
        folder = Path(name)
        url = f"http://127.0.0.1:{_find_free_port()}"
        environment = {
            **build_environment(),
            **urls,
            "DATABASE_URL": database,
            "SECRET_KEY": secrets.token_urlsafe(48),
            "CHECKRAIL_DATA": name,
            "CHECKRAIL_HOSTS": "127.0.0.1",
            "CHECKRAIL_ORIGINS": url,
            **variables,
        }
        contents = fill_database(
            environment,
            runs=runs,
            reviews=reviews,
            children=children,
            mixed=mixed,
            projects=projects,
        )
        with _start_server(
            _build_web_command(url), url=url, folder=folder, environment=environment
        ) as pid:
            yield Server(
                profile="PostgreSQL",
                url=url,
                pid=pid,
                database=database,
                folder=folder,
                contents=contents,
                environment=environment,
            )


@contextmanager
def start_another(server: Server) -> Iterator[Server]:
    """One more web process on the same PostgreSQL."""
    url = f"http://127.0.0.1:{_find_free_port()}"
    with (
        tempfile.TemporaryDirectory(prefix="checkrail-bench-") as name,
        _start_server(
            _build_web_command(url),
            url=url,
            folder=Path(name),
            environment=server.environment,
        ) as pid,
    ):
        yield replace(server, url=url, pid=pid)


def _build_web_command(url: str) -> list[str]:
    return [
        *("-m", "uvicorn", "config.asgi:application", "--workers", "1"),
        *("--port", str(urlsplit(url).port), "--loop", "uvloop"),
        *("--http", "config.server.http_protocol:TimedProtocol"),
        "--no-proxy-headers",
    ]


def build_environment() -> dict[str, str]:
    """Ours, without what would choose another profile or another folder.

    One key stands for many agents: it is not held to the rate of one.
    """
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("CHECKRAIL_")
        and name not in {"DATABASE_URL", "REDIS_URL", "SECRET_KEY"}
    }
    return {**inherited, "CHECKRAIL_KEY_RATE": "0"}


@contextmanager
def create_database(server: str) -> Iterator[str]:
    name = f"checkrail_bench_{secrets.token_hex(4)}"
    with psycopg.connect(server, autocommit=True) as link:
        link.execute(f"CREATE DATABASE {name}")
        try:
            yield urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
        finally:
            link.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def _start_server(
    arguments: Sequence[str], *, url: str, folder: Path, environment: Mapping[str, str]
) -> Iterator[int]:
    """The server's process id, from its first answer on."""
    log = folder / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + START_SECONDS
        while not _is_up(url):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"No server came up:\n{log.read_text()[-4000:]}")
            time.sleep(0.05)
        yield process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _is_up(url: str) -> bool:
    try:
        return httpx.get(f"{url}/api/v1/healthz", timeout=5).status_code == 200
    except httpx.TransportError:
        return False


def _find_free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
