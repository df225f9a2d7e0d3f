"""Somebody who starts the examples as programs of their own, in an empty folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.builders import Robot
from tests.support.live import Live

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"


class Newcomer:
    def __init__(self, live: Live, robo: Robot, folder: Path) -> None:
        self.folder = folder
        self.variables = {
            "CHECKRAIL_URL": live.url,
            "CHECKRAIL_KEY": robo.key,
            "PYTHONPATH": str(ROOT / "client"),
        }

    def start(self, example: str) -> list[str]:
        """What it prints, without the addresses of reviews."""
        result = subprocess.run(
            [sys.executable, EXAMPLES / example],
            cwd=self.folder,
            env={**os.environ, **self.variables},
            capture_output=True,
            text=True,
            check=False,
            timeout=50,
        )
        assert result.returncode == 0, result.stderr
        return [line for line in result.stdout.splitlines() if "://" not in line]
