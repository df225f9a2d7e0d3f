"""PostgreSQL, Redis and processes of Checkrail that a test may stop, hang and start."""

from __future__ import annotations

import json
import os
import secrets
import signal
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import redis

from tests.runner.profiles import get_quick
from tests.runner.servers import PreparedPostgres, own_redis, prepare_postgres
from tests.support.processes import manage


class Postgres:
    """A server that runs until it is taken away, and again when it is brought back."""

    def __init__(self, prepared: PreparedPostgres, data: Path) -> None:
        self._prepared = prepared
        self._data = data
        self._running: AbstractContextManager[object] | None = None
        self.url = prepared.url

    def start(self) -> None:
        self._running = self._prepared.run()
        self._running.__enter__()

    def crash(self) -> None:
        """All of its processes end at once, and it has to recover when it starts."""
        os.kill(self._get_pid(), signal.SIGQUIT)
        self.stop()

    def stop(self) -> None:
        if self._running is not None:
            self._running.__exit__(None, None, None)
            self._running = None

    @contextmanager
    def hang(self) -> Iterator[None]:
        """Connections stay, and nothing comes of what is asked."""
        pid = self._get_pid()
        os.kill(pid, signal.SIGSTOP)  # first, or it would start more of them
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        stopped = [pid, *map(int, children)]
        try:
            for each in stopped:
                os.kill(each, signal.SIGSTOP)
            yield
        finally:
            for each in reversed(stopped):
                os.kill(each, signal.SIGCONT)

    def _get_pid(self) -> int:
        return int((self._data / "postmaster.pid").read_text().split()[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """A database with every table and one agent, and an empty Redis."""

    postgres: Postgres
    redis_url: str
    secret_key: str
    # Of the agent.
    key: str

    @property
    def variables(self) -> dict[str, str]:
        return build_variables(self.postgres, self.redis_url, self.secret_key)

    def kill_redis(self) -> None:
        with redis.Redis.from_url(self.redis_url) as client:
            pid = client.info("server")["process_id"]
        os.kill(int(pid), signal.SIGKILL)


def build_variables(
    postgres: Postgres, redis_url: str, secret_key: str
) -> dict[str, str]:
    return {
        "DATABASE_URL": postgres.url,
        "REDIS_URL": redis_url,
        "SECRET_KEY": secret_key,
        "CHECKRAIL_HOSTS": "127.0.0.1",
        "CHECKRAIL_ORIGINS": "http://127.0.0.1:1",
    }


def build_beat(folder: Path) -> tuple[str, ...]:
    """The command of a beat that remembers in `folder` what it has sent."""
    return "beat", f"--schedule={folder}/beat"


@contextmanager
def run_database() -> Iterator[Services]:
    """Without a Redis: none is needed to prepare it."""
    with (
        TemporaryDirectory(prefix="checkrail-outage-") as folder,
        TemporaryDirectory(prefix="checkrail-outage-rows-", dir=get_quick()) as rows,
        prepare_postgres(Path(folder), data=Path(rows)) as prepared,
    ):
        postgres = Postgres(prepared, Path(rows))
        postgres.start()
        try:
            secret_key = secrets.token_urlsafe(48)
            away = "redis://127.0.0.1:1/0"
            variables = build_variables(postgres, away, secret_key)
            made = manage("migrate", "-v0", **variables)
            assert made.returncode == 0, made.stderr
            command = ("agent_key", "robo", "--project", "main", "--json")
            made = manage(*command, **variables)
            assert made.returncode == 0, made.stderr
            key = json.loads(made.stdout)["key"]
            yield Services(
                postgres=postgres, redis_url=away, secret_key=secret_key, key=key
            )
        finally:
            postgres.stop()


@contextmanager
def add_redis(database: Services) -> Iterator[Services]:
    with (
        TemporaryDirectory(prefix="checkrail-outage-redis-") as hints,
        own_redis(Path(hints)) as server,
    ):
        yield replace(database, redis_url=server.url)
