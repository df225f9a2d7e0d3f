"""The day played in processes of its own, next to the files that were recorded of it."""

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
KEPT = ("PATH", "HOME", "LANG", "LD_LIBRARY_PATH", "VIRTUAL_ENV")
FORMATS = (1, 2)


@contextmanager
def play_recorded_day() -> Iterator[Path]:
    """Play the day once for each format of entries; yield the folder with its files."""
    with tempfile.TemporaryDirectory(prefix="checkrail-golden-") as made:
        files = Path(made, "files")
        days = [
            _start_day(files, data=Path(made, f"data-{each}"), entry_format=each)
            for each in FORMATS
        ]
        told = [day.communicate()[0] for day in days]
        for day, said in zip(days, told, strict=True):
            if day.returncode:
                raise RuntimeError(
                    f"The day was not played to its end:\n{said[-6000:]}"
                )
        yield files


def _start_day(files: Path, *, data: Path, entry_format: int) -> subprocess.Popen[str]:
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
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
    return subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
