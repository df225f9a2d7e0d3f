"""Servers as processes of their own: to kill them, and to have two of them."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from urllib.parse import quote

import httpx
from django.conf import settings
from django.db import connection

from tests.runner.database import get_sqlite_template
from tests.support.live import Live
from tests.support.programs.forked import Forked, Program, run
from tests.support.programs.ports import reserve_port
from tests.support.waiting import until

DATABASE = "checkrail.sqlite3"


class Process:
    """A server that answers at `live`, until it is killed or stopped."""

    def __init__(self, process: Forked, live: Live, output: IO[str]) -> None:
        self._process = process
        self._output = output
        self.live = live
        self.pid = process.pid
        self.kill = process.kill
        # Its exit code, once it has ended.
        self.code = process.poll

    def stop(self) -> str:
        """Ask it to end; what it has printed since it was ready."""
        if self._process.poll() is None:
            os.killpg(self.pid, signal.SIGTERM)
        self._process.wait(timeout=60)
        return self._output.read()


def environment(**more: str) -> dict[str, str]:
    """Ours, without what would make the process a second one on our database."""
    mine = {
        name: value for name, value in os.environ.items() if "CHECKRAIL" not in name
    }
    for name in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY"):
        mine.pop(name, None)
    return {**mine, "PYTHONUNBUFFERED": "1", **more}


@contextmanager
def up(
    data: Path,
    *,
    port: int = 0,
    variables: Mapping[str, str] | None = None,
    files: int | None = None,
    first: str = "",
) -> Iterator[Process]:
    """`manage.py up` on a data folder, with no demo; `files` is its `ulimit -n`, `first` a
    script that its process runs before."""
    template = get_sqlite_template()
    if template.exists() and not (data / DATABASE).exists():
        shutil.copy(template, data / DATABASE)
    arguments = ("manage.py", "up", "--no-demo", "--port", str(port))
    program = Program(
        arguments=(*arguments, "--data", str(data)),
        variables=environment(**(variables or {})),
        files=files,
        first=first,
    )
    with _start(program) as (process, output):
        for line in output:
            found = re.search(r"https?://\S+", line)
            if found:
                break
        else:
            raise AssertionError(f"It ended with {process.wait()} and gave no URL.")
        # Behind a proxy it prints the address that people use, not its own.
        url = f"http://127.0.0.1:{port}" if port else found.group()
        yield Process(process, Live(url=url), output)


@contextmanager
def another_web_process(
    *,
    port: int = 0,
    variables: Mapping[str, str] | None = None,
    files: int | None = None,
    first: str = "",
) -> Iterator[Process]:
    """A second uvicorn on the very database of this test run (PostgreSQL only)."""
    ours = {
        "DATABASE_URL": database_url(),
        "REDIS_URL": os.environ["REDIS_URL"],
        "SECRET_KEY": settings.SECRET_KEY,
    }
    more = {**ours, **(variables or {})}
    with web_process(port=port, variables=more, files=files, first=first) as process:
        yield process


@contextmanager
def web_process(
    *,
    variables: Mapping[str, str],
    port: int = 0,
    files: int | None = None,
    first: str = "",
) -> Iterator[Process]:
    """A uvicorn on the services that `variables` name; `first` is a script that its process
    runs before."""
    if not port:
        with (
            reserve_port() as port,
            web_process(
                variables=variables, port=port, files=files, first=first
            ) as process,
        ):
            yield process
        return
    url = f"http://127.0.0.1:{port}"
    program = Program(
        module="uvicorn",
        arguments=(
            *("uvicorn", "config.asgi:application", "--port", str(port)),
            *("--log-level", "warning", "--no-proxy-headers"),
            *("--timeout-keep-alive", "60"),
            *("--http", "config.server.http_protocol:TimedProtocol"),
        ),
        variables=environment(
            **{
                "CHECKRAIL_HOSTS": "127.0.0.1",
                "CHECKRAIL_ORIGINS": url,
                # No load balancer has to notice that it stops.
                "CHECKRAIL_DRAIN_S": "0",
                **variables,
            }
        ),
        files=files,
        first=first,
    )
    with _start(program) as (process, output):
        until(lambda: process.poll() is not None or _answers(url), seconds=120)
        yield Process(process, Live(url=url), output)


@contextmanager
def celery_process(*command: str, variables: Mapping[str, str]) -> Iterator[Forked]:
    """A worker or a beat on the services that `variables` name."""
    program = Program(
        module="celery",
        arguments=("celery", "-A", "config", *command),
        variables=environment(**variables),
    )
    with _start(program) as (process, _):
        yield process


def manage(*command: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run `manage.py` to its end."""
    arguments = ("manage.py", *command)
    program = Program(arguments=arguments, variables=environment(**more))
    return run(program, timeout=240)


@contextmanager
def _start(program: Program) -> Iterator[tuple[Forked, IO[str]]]:
    """Start it, and end it with the block; what it prints can be read."""
    reading, writing = os.pipe()
    with open(reading, encoding="utf-8") as output:
        try:
            process = Forked(program, output=writing)
        finally:
            os.close(writing)
        try:
            yield process, output
        finally:
            if process.poll() is None:
                process.kill()


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz").status_code == 200
    except httpx.TransportError:
        return False


def database_url() -> str:
    named = connection.settings_dict
    secret = f"{quote(named['USER'])}:{quote(named['PASSWORD'])}"
    return f"postgresql://{secret}@{named['HOST']}:{named['PORT']}/{named['NAME']}"
