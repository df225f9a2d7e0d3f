"""The README's curl session works word for word against a freshly started server."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import settings

from tests.docs.markdown import ROOT, blocks, read_page

pytestmark = [
    pytest.mark.timeout(600),  # it starts many processes, on whatever machine this is
    pytest.mark.skipif(
        not settings.EMBEDDED, reason="the README's server is the embedded one"
    ),
]
needs_curl = pytest.mark.skipif(
    shutil.which("curl") is None, reason="curl is not installed"
)

READY = "Checkrail is ready: "


def fresh_environment(data: Path) -> dict[str, str]:
    """What a newcomer has: none of our variables, but a data folder for the test."""
    ours = {"DATABASE_URL", "REDIS_URL", "SECRET_KEY"}
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ours and not name.startswith("CHECKRAIL_")
    }
    return {**kept, "CHECKRAIL_DATA": str(data)}


@contextmanager
def server(environment: dict[str, str], *, log: Path) -> Iterator[str]:
    with (
        log.open("w") as errors,
        subprocess.Popen(
            [sys.executable, "manage.py", "up", "--no-demo", "--port", "0"],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        try:
            for line in process.stdout:
                if line.startswith(READY):
                    yield line.removeprefix(READY).strip()
                    break
            else:
                raise AssertionError(log.read_text())
        finally:
            process.terminate()


@needs_curl
def test_the_curl_session_works_word_for_word(tmp_path: Path) -> None:
    sessions = blocks(read_page("README.md"), language="sh")
    session = "\n".join(block for block in sessions if "api " in block)
    # A checkout may be tested by an environment that lies elsewhere.
    session = session.replace(".venv/bin/", f"{Path(sys.executable).parent}/")
    environment = fresh_environment(tmp_path / "var")
    with server(environment, log=tmp_path / "server.log") as url:
        done = subprocess.run(
            ["sh", "-e"],
            input=session,
            cwd=ROOT,
            env={**environment, "URL": url},
            capture_output=True,
            text=True,
            timeout=480,
        )
    assert (done.returncode, done.stderr) == (0, "")
    *decisions, first, second, allowed, why, ruled, runs = done.stdout.splitlines()
    assert decisions == ["continue"] * 4 + ["pause"]
    assert (allowed, ruled) == ("allow", "amend")
    assert why == "Deletes files that git does not track"
    assert runs == "make clean && make"
    # The person and the agent are told at the same moment, in either order.
    ruling = first if "Start with the fixtures." in first else second
    assert "'action': 'approve'" in ruling
    assert "'note': 'Start with the fixtures.'" in ruling
    assert "ruled" in {first, second}


def test_the_commands_of_the_readme_exist() -> None:
    verbs = {
        line.split()[1]
        for line in read_page("README.md").splitlines()
        if line.startswith("make ")
    }
    makefile = read_page("Makefile")
    assert verbs == {"run", "test"}
    assert all(f"\n{verb}:" in makefile for verb in verbs)
