"""Peers that hold a waiter until somebody answers, each in an environment of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.servers.launch import create_database
from tests.runner.services import services

_INSTALL_SECONDS = 300
_RUN_SECONDS = 180
_DRIVERS = Path(__file__).with_name("programs")
# Runs a program in a network of its own, in which there is nobody but itself (Linux).
_ALONE = (
    *("unshare", "--map-root-user", "--net", sys.executable, "-c"),
    "import fcntl, os, socket, struct, sys; up = struct.pack('16sh22x', b'lo', 0x41); "
    "fcntl.ioctl(socket.socket(), 0x8914, up); os.execvp(sys.argv[1], sys.argv[1:])",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WakePeer:
    """`driver` is a program that waits, answers, and prints the seconds as JSON. `alone`: it
    runs without any network, because it would ask hosts elsewhere for its newest version."""

    name: str
    packages: Sequence[str]
    driver: str
    most_waiting: int | None = None
    alone: bool = False

    def measure(self, *, waiting: int, ruled: int, rate: int) -> list[float] | None:
        """None where it cannot be run; whatever else fails is an error."""
        count = min(waiting, self.most_waiting or waiting)
        with (
            tempfile.TemporaryDirectory(prefix="checkrail-peer-") as folder,
            services() as urls,
            create_database(urls["DATABASE_URL"]) as database,
        ):
            command = self._install(folder)
            if command is None:
                return None
            measured = subprocess.run(
                [*command, *map(str, (count, ruled, rate))],
                cwd=folder,
                env={**os.environ, "PEER_DATABASE": database, "PEER_FOLDER": folder},
                stdout=subprocess.PIPE,
                timeout=_RUN_SECONDS,
                check=True,
                text=True,
            )
        seconds: list[float] = json.loads(measured.stdout.splitlines()[-1])
        return seconds

    def _install(self, folder: str) -> list[str] | None:
        """What runs the driver; None where its packages cannot be had, or not alone."""
        if self.alone and not _can_be_alone():
            return None
        driver = shutil.copy(_DRIVERS / self.driver, folder)
        if driver.endswith(".mjs"):
            if shutil.which("npm") is None:
                return None
            install = ["npm", "install", "--silent", *self.packages]
            command = ["node", driver]
        else:
            python = f"{folder}/venv/bin/python"
            subprocess.run([sys.executable, "-m", "venv", f"{folder}/venv"], check=True)
            install = [python, "-m", "pip", "install", "--quiet", *self.packages]
            command = [python, driver]
        done = subprocess.run(
            install, cwd=folder, timeout=_INSTALL_SECONDS, check=False
        )
        if done.returncode:
            return None
        return [*_ALONE, *command] if self.alone else command


def _can_be_alone() -> bool:
    if shutil.which("unshare") is None:
        return False
    return subprocess.run([*_ALONE, "true"], check=False).returncode == 0


PEERS = (
    WakePeer(
        # With 200 waiting its own answers come after a minute, or not at all.
        name="awaithumans 0.1.12, PostgreSQL, 100 waiting",
        packages=("awaithumans[server]==0.1.12", "psycopg[binary]>=3.2"),
        driver="awaithumans_wake.py",
        most_waiting=100,
    ),
    WakePeer(
        name="DBOS 3.3, PostgreSQL, 200 waiting",
        packages=("dbos==3.3.0",),
        driver="dbos_wake.py",
    ),
    WakePeer(
        # With a log of its own on disk, and no other database.
        name="Restate 1.7, 200 waiting",
        packages=(
            "@restatedev/restate-server@1.7.12",
            "@restatedev/restate-sdk@1.17.2",
        ),
        driver="restate_wake.mjs",
        alone=True,
    ),
)
