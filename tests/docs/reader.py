"""Somebody who follows the pages: a fresh copy of the project, a home and shells of its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.docs.markdown import ROOT
from tests.support.people import rule

READY = "Checkrail is ready: "
# Nothing of ours: a newcomer has none of it.
_KEPT = ("LANG", "LC_ALL", "TZ", "SSL_CERT_FILE")
# What a reader has in the clone that is no part of it.
OWN = ("notes.txt", "build/kept.txt")


class Reader:
    def __init__(self, folder: Path) -> None:
        self.clone = folder / "checkrail"
        self.home = folder / "home"
        self.home.mkdir()
        _copy_project(self.clone)
        for name in OWN:
            (self.clone / name).parent.mkdir(exist_ok=True)
            (self.clone / name).write_text("mine")
        self._set_up()
        self.url = ""

    def _set_up(self) -> None:
        """What `.ci/setup` makes: .venv, without pip, but with packages of this suite."""
        subprocess.run(
            [sys.executable, "-m", "venv", "--without-pip", ".venv"],
            cwd=self.clone,
            check=True,
        )
        (site,) = (self.clone / ".venv" / "lib").glob("python*/site-packages")
        (site / "suite.pth").write_text(sysconfig.get_path("purelib"))
        sums = self.run("cksum requirements.lock >.venv/installed")
        assert sums.returncode == 0, sums.stderr

    @property
    def environment(self) -> dict[str, str]:
        folder = Path(sys.executable).resolve().parent
        return {
            **{name: os.environ[name] for name in _KEPT if name in os.environ},
            "HOME": str(self.home),
            "PATH": f"{folder}:/usr/local/bin:/usr/bin:/bin",
        }

    def offline(self) -> dict[str, str]:
        """For pip, which would ask an index: packages of this suite are there already."""
        backend = self.home / "backend" / "setuptools"
        backend.mkdir(parents=True, exist_ok=True)
        (backend / "__init__.py").touch()
        source = Path(__file__).with_name("wheel_backend.py")
        shutil.copy(source, backend / "build_meta.py")
        return {
            "PYTHONPATH": f"{backend.parent}:{sysconfig.get_path('purelib')}",
            "PIP_NO_INDEX": "1",
            "PIP_NO_BUILD_ISOLATION": "0",
            "PIP_CONFIG_FILE": os.devnull,
            # A page that forgets the environment must not change this machine's Python.
            "PIP_REQUIRE_VIRTUALENV": "1",
        }

    def run(self, script: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """A terminal in the clone."""
        return subprocess.run(
            ["bash", "-e"],
            input=script,
            cwd=self.clone,
            env={**self.environment, **variables},
            capture_output=True,
            text=True,
            timeout=480,
        )

    @contextmanager
    def serve(self) -> Iterator[None]:
        """`make run`, in another terminal."""
        log = self.home / "server.log"
        with (
            log.open("w") as errors,
            subprocess.Popen(
                ["make", "run", "ARGS=--no-demo --port 0"],
                cwd=self.clone,
                env=self.environment,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,
            ) as process,
        ):
            assert process.stdout is not None
            try:
                for line in process.stdout:
                    if line.startswith(READY):
                        self.url = line.removeprefix(READY).strip()
                        yield
                        break
                else:
                    raise AssertionError(log.read_text())
            finally:
                os.killpg(process.pid, signal.SIGTERM)

    @contextmanager
    def approve_everything(self) -> Iterator[list[str]]:
        """A person in the console; yields the kinds of what waited."""
        made = self.run(
            ".venv/bin/python manage.py user_add carol --role manager --project demo --json"
        )
        token = json.loads(made.stdout)["token"]
        kinds: list[str] = []
        enough = threading.Event()

        def work() -> None:
            address = f"{self.url}/api/v1"
            headers = {"Authorization": f"Bearer {token}"}
            with httpx.Client(base_url=address, headers=headers) as desk:
                while not enough.wait(0.2):
                    for review in desk.get("/reviews?state=open").json()["items"]:
                        rule(desk, review["id"], "approve")
                        kinds.append(review["kind"])

        person = threading.Thread(target=work, name="reviewer")
        person.start()
        try:
            yield kinds
        finally:
            enough.set()
            person.join()

    def find_lost(self) -> list[str]:
        """What stood in the clone and is gone: what the reader had, and what runs there."""
        kept = (*OWN, "var/checkrail.sqlite3", ".venv/bin/python", "README.md")
        return [name for name in kept if not (self.clone / name).exists()]


def _copy_project(folder: Path) -> None:
    """As it would be committed, without what no page is about."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if name.startswith(("tests/", "bench/", "docs/images/")):
            continue
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
