"""The day played in a process of its own, and its files compared with the recorded ones."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RECORDED = Path(__file__).with_name("recorded")
SECRET_KEY = "golden-files-are-signed-with-this-and-nothing-else-ever-is"


@contextmanager
def play() -> Iterator[Path]:
    """The folder with the files of a day that was played just now."""
    with tempfile.TemporaryDirectory(prefix="checkrail-golden-") as made:
        folder = Path(made)
        _run_day(folder / "files", data=folder / "data", entry_format=2)
        yield folder / "files"


def _run_day(files: Path, *, data: Path, entry_format: int) -> None:
    kept = ("PATH", "HOME", "LANG", "LD_LIBRARY_PATH", "VIRTUAL_ENV")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    environment |= {
        "CHECKRAIL_DATA": str(data),
        "CHECKRAIL_LOG_LEVEL": "ERROR",
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'client'}",
        "SECRET_KEY": SECRET_KEY,
        "TZ": "UTC",
    }
    command = [sys.executable, "-m", "tests.golden.play", str(files), str(entry_format)]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"The day was not played to its end.\n{done.stderr[-4000:]}")
