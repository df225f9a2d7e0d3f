"""The paths of a step and of a ruling, as the page on architecture lists them, are real."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "architecture.md"
MOST = {"step": 18, "ruling": 25}
# What is not on the way to the answer: the gates, which have a path of their own, the
# counting of connections, the compression of pages, hints to workers after the commit,
# and what is done every second or two.
BESIDE = (
    "guidance/core/",
    "config/server/compression.py",
    "config/server/connections.py",
    "config/server/http_protocol.py",
    "config/server/one_cpu.py",
    "ledger/waiting/coalescing.py",
    "loop/control/worker_hint.py",
    "reviews/policies/shadow/running.py",
)

pytestmark = pytest.mark.once("the path is that of one process on SQLite")


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, list[str]]]:
    folder = tmp_path_factory.mktemp("traced")
    environment = {
        name: value for name, value in os.environ.items() if not _is_of_suite(name)
    }
    environment |= {"CHECKRAIL_DATA": str(folder), "TRACE": str(folder / "trace.json")}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:randomly",
        "-p",
        "no:xdist",
    ]
    done = subprocess.run(
        [*command, "tests/docs/traced_paths.py"],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, dict[str, list[str]]] = json.loads(
        (folder / "trace.json").read_text()
    )
    return found


def _is_of_suite(name: str) -> bool:
    return name.startswith("PYTEST_") or name in {"DATABASE_URL", "REDIS_URL"}


def list_stations(calls: dict[str, list[str]]) -> set[str]:
    """Files that hand the work on to one that hands it on again. The rest only answer
    their caller."""
    on_the_way = {
        caller: {path for path in called if not path.startswith(BESIDE)}
        for caller, called in calls.items()
        if not caller.startswith(BESIDE)
    }
    return {
        caller
        for caller, called in on_the_way.items()
        if any(on_the_way.get(path) for path in called)
    }


def list_named(path: str) -> set[str]:
    """The files of one path on the page."""
    paragraph = re.search(
        rf"^\*\*A {path}\*\*.*?(?=\n\n)", PAGE.read_text(), re.M | re.S
    )
    assert paragraph is not None
    return set(re.findall(r"`(\w+/[\w/]+\.py)`", paragraph[0]))


@pytest.mark.parametrize("path", ["step", "ruling"])
def test_the_page_names_every_file_that_hands_it_on(
    path: str, traced: dict[str, dict[str, list[str]]]
) -> None:
    stations = list_stations(traced[path])

    assert len(stations) <= MOST[path], sorted(stations)
    assert stations - list_named(path) == set()
