"""A Python client made from the document runs the main path."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import httpx

from tests.support.builders import Person, Robot
from tests.support.live import Live

HERE = Path(__file__).parent


def test_a_python_client_runs_the_main_path(
    live: Live,
    document: Path,
    tmp_path: Path,
    robo: Robot,
    bob: Person,
    reviewer: httpx.Client,
) -> None:
    run(
        [Path(sys.executable).with_name("openapi-python-client"), "generate"],
        *("--path", str(document), "--config", str(HERE / "client.yaml")),
        *("--output-path", str(tmp_path / "client_made"), "--meta", "none"),
        "--fail-on-warning",
    )

    said = json.loads(
        run(
            [sys.executable, HERE / "main_path.py"],
            *(live.url, robo.key, bob.token),
            folder=tmp_path,
        )
    )

    assert said["note"] == "Start with the fixtures."
    assert said["ran"] == "rm -rf build"
    assert (said["settled"], said["status"]) == (True, "completed")
    assert said["evaluations"]
    assert reviewer.get(f"/runs/{said['run']}").json()["status"] == "completed"


def run(program: list[str | Path], *arguments: str, folder: Path = HERE) -> str:
    result = subprocess.run(
        [*program, *arguments],
        env={**os.environ, "PYTHONPATH": str(folder), "NO_COLOR": "1"},
        capture_output=True,
        encoding="utf-8",
        timeout=50,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout
