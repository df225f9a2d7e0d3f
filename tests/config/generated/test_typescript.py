"""A TypeScript client made from the document runs the main path."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import httpx

from tests.node import packages
from tests.node.packages import run_script, run_tool
from tests.support.builders import Person, Robot
from tests.support.live import Live

HERE = Path(__file__).parent


def test_a_typescript_client_runs_the_main_path(
    live: Live,
    document: Path,
    workplace: Path,
    robo: Robot,
    bob: Person,
    reviewer: httpx.Client,
) -> None:
    shutil.copy(packages.HERE / "package.json", workplace)
    for name in ("tsconfig.json", "main_path.ts"):
        shutil.copy(HERE / name, workplace)
    run_tool(workplace, "openapi-typescript", str(document), "-o", "api.d.ts")
    run_tool(workplace, "tsc", "--project", ".")

    said = json.loads(
        run_script(workplace, "main_path.ts", live.url, robo.key, bob.token)
    )

    assert said["note"] == "Start with the fixtures."
    assert said["ran"] == "rm -rf build"
    assert (said["settled"], said["status"]) == (True, "completed")
    assert said["evaluations"]
    assert reviewer.get(f"/runs/{said['run']}").json()["status"] == "completed"
