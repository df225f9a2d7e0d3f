"""Servers as processes of their own: to kill them, and to have two of them."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import httpx
from django.conf import settings
from django.db import connection

from tests.runner.database import get_sqlite_template
from tests.support.live import Live
from tests.support.waiting import until

DATABASE = "checkrail.sqlite3"


class Process:
    """A server that answers at `live`, until it is killed or stopped."""

    def __init__(self, process: subprocess.Popen[str], live: Live) -> None:
        self._process = process
        self.live = live

    def kill(self) -> None:
        """As hard as it gets: kill -9, for it and whatever it has started."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def stop(self) -> str:
        """Ask it to end; what it has printed since it was ready."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGTERM)
        rest, _ = self._process.communicate(timeout=20)
        return rest


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
) -> Iterator[Process]:
    """`manage.py up` on a data folder, with no demo; `files` is its `ulimit -n`."""
    template = get_sqlite_template()
    if template.exists() and not (data / DATABASE).exists():
        shutil.copy(template, data / DATABASE)
    command = [sys.executable, "manage.py", "up", "--no-demo", "--port", str(port)]
    command += ["--data", str(data)]
    process = _start(command, environment(**(variables or {})), files=files)
    assert process.stdout is not None
    for line in process.stdout:
        found = re.search(r"https?://\S+", line)
        if found:
            break
    else:
        raise AssertionError(f"It ended with {process.wait()} and gave no URL.")
    # Behind a proxy it prints the address that people use, not its own.
    url = f"http://127.0.0.1:{port}" if port else found.group()
    yield from _until_the_end(process, Live(url=url))


@contextmanager
def another_web_process(
    *, variables: Mapping[str, str] | None = None, files: int | None = None
) -> Iterator[Process]:
    """A second uvicorn on the very database of this test run (PostgreSQL only)."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "uvicorn", "config.asgi:application"]
    command += ["--port", str(port), "--log-level", "warning", "--no-proxy-headers"]
    command += ["--http", "config.server.http_protocol:TimedProtocol"]
    process = _start(
        command,
        environment(
            DATABASE_URL=database_url(),
            REDIS_URL=os.environ["REDIS_URL"],
            SECRET_KEY=settings.SECRET_KEY,
            CHECKRAIL_HOSTS="127.0.0.1",
            CHECKRAIL_ORIGINS=url,
            **(variables or {}),
        ),
        files=files,
    )
    until(lambda: process.poll() is not None or _answers(url), seconds=30)
    yield from _until_the_end(process, Live(url=url))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def manage(*command: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *command],
        env=environment(**more),
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )


def _start(
    command: list[str], variables: Mapping[str, str], *, files: int | None = None
) -> subprocess.Popen[str]:
    if files is not None:
        command = ["sh", "-c", f'ulimit -n {files}; exec "$@"', "sh", *command]
    return subprocess.Popen(
        command,
        env=dict(variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _until_the_end(process: subprocess.Popen[str], live: Live) -> Iterator[Process]:
    running = Process(process, live)
    try:
        yield running
    finally:
        if process.poll() is None:
            running.kill()
        if process.stdout is not None:
            process.stdout.close()


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz").status_code == 200
    except httpx.TransportError:
        return False


def database_url() -> str:
    named = connection.settings_dict
    secret = f"{quote(named['USER'])}:{quote(named['PASSWORD'])}"
    return f"postgresql://{secret}@{named['HOST']}:{named['PORT']}/{named['NAME']}"
