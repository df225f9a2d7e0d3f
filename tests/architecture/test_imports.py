"""The import contracts bite: a wrong import of either kind fails `make check`."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Every package at the top, as it stands; the client is found beside them.
ROOMS = [path.parent.name for path in ROOT.glob("*/__init__.py")] + ["client"]


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A copy of the rooms that may be spoiled."""
    for room in ROOMS:
        shutil.copytree(
            ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def lint(house: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=house,
        env={"PYTHONPATH": f"{house}:{house}/client", "NO_COLOR": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.mark.parametrize(
    ("module", "wrong"),
    [
        ("guidance/core/steps/judge_step.py", "import django"),
        ("guidance/core/steps/scores.py", "import random"),
        ("guidance/core/tools/rules.py", "import guidance.core.policy"),
        ("guidance/core/secrets/labels.py", "import guidance.core.secrets.scan"),
        ("ledger/writer/thread.py", "import reviews.models"),
        ("accounts/services.py", "import ledger.writer"),
        ("reviews/services.py", "import config.settings"),
    ],
    ids=lambda value: value.replace("/", "."),
)
def test_a_wrong_import_breaks_a_contract(house: Path, module: str, wrong: str) -> None:
    path = house / module
    path.write_text(path.read_text() + f"\n{wrong}\n")
    result = lint(house)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "BROKEN" in result.stdout


def test_the_rooms_as_they_stand_keep_every_contract(house: Path) -> None:
    result = lint(house)
    assert result.returncode == 0, result.stdout + result.stderr
