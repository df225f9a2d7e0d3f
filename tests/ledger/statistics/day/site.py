"""Servers of one database that can be killed and started again, and those who count there.

On PostgreSQL there are two web processes. On SQLite one process serves; it counts as well,
and other processes count beside it.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from django.conf import settings
from django.db import connection

from tests.runner.database import get_sqlite_template
from tests.support.processes import (
    DATABASE,
    Process,
    another_web_process,
    database_url,
    environment,
    up,
)
from tests.support.programs.forked import Forked, Program, run
from tests.support.programs.ports import reserve_port

HERE = Path(__file__).parent
COUNTER = HERE.parent / "counter.py"


@dataclass(slots=True, kw_only=True)
class Site:
    """`project` is the number of the project that `prepare.py` has made."""

    folder: Path
    began: float = field(default_factory=time.time)
    ports: tuple[int, ...] = ()
    project: int = 0
    servers: dict[int, Process] = field(default_factory=dict)
    _stack: ExitStack = field(default_factory=ExitStack)

    @property
    def urls(self) -> list[str]:
        """Of two servers, or of one twice."""
        urls = [f"http://127.0.0.1:{port}" for port in self.ports]
        return urls if len(urls) > 1 else urls * 2

    @property
    def _hours(self) -> Path:
        return self.folder / "hours"

    def move_clock(self, hours: int) -> None:
        """So many hours of the day have passed."""
        os.truncate(self._hours, hours)

    def start(self, port: int) -> None:
        clock = {"DAY_BEGAN": str(self.began), "DAY_HOURS": str(self._hours)}
        given: dict[str, Any] = {"port": port, "first": str(HERE / "moved_clock.py")}
        if connection.vendor == "postgresql":
            server = another_web_process(variables=clock, **given)
        else:
            data = {"CHECKRAIL_DATA": str(self.folder)}
            server = up(self.folder, variables={**clock, **data}, **given)
        self.servers[port] = self._stack.enter_context(server)

    def kill_server(self) -> None:
        """The first of them; it is there again when this returns."""
        port = self.ports[0]
        self.servers[port].kill()
        self.start(port)

    def run(self, *arguments: str) -> CompletedProcess[str]:
        return run(self._describe(arguments), timeout=120)

    def count(self, slices: int) -> CompletedProcess[str]:
        """In a process of its own, as counter.py says."""
        return self.run(str(COUNTER), str(self.project), str(slices))

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Somebody counts, and is killed when the block ends."""
        program = self._describe((str(COUNTER), str(self.project), "-1"))
        reading, writing = os.pipe()
        with open(reading, encoding="utf-8") as output:
            forked = Forked(program, output=writing)
            os.close(writing)
            try:
                assert output.readline() == "counted\n"
                yield
            finally:
                forked.kill()

    def prepare(self, slug: str) -> Mapping[str, Any]:
        made = self.run(str(HERE / "prepare.py"), slug)
        assert made.returncode == 0, made.stderr
        found: dict[str, Any] = json.loads(made.stdout)
        self.project = found["project"]
        return found

    def _describe(self, arguments: Sequence[str]) -> Program:
        given = {"CHECKRAIL_DATA": str(self.folder)}
        if connection.vendor == "postgresql":
            given = {
                "DATABASE_URL": database_url(),
                "REDIS_URL": os.environ["REDIS_URL"],
                "SECRET_KEY": settings.SECRET_KEY,
                "CHECKRAIL_HOSTS": "127.0.0.1",
                "CHECKRAIL_ORIGINS": "http://127.0.0.1",
            }
        return Program(arguments=tuple(arguments), variables=environment(**given))

    def __enter__(self) -> Site:
        self._hours.touch()
        if connection.vendor == "sqlite":
            shutil.copy(get_sqlite_template(), self.folder / DATABASE)
        self.ports = tuple(
            self._stack.enter_context(reserve_port())
            for _ in range(2 if connection.vendor == "postgresql" else 1)
        )
        return self

    def __exit__(self, *_error: object) -> None:
        self._stack.close()
