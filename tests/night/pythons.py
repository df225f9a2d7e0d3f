"""The Pythons of this machine that Checkrail runs on."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Iterable
from pathlib import Path

KNOWN = ("3.11", "3.12", "3.13", "3.14")
# Where people keep others beside the system's own.
FOLDERS = (
    ".pyenv/versions/*/bin",
    ".local/share/uv/python/*/bin",
    ".asdf/installs/python/*/bin",
)
_SAY = "import sys, venv, ensurepip; print('%d.%d.%d' % sys.version_info[:3])"


def choose_python(seed: int) -> str:
    """One by chance, each version as likely as another."""
    found = find_pythons(_list_folders())
    return found[random.Random(seed).choice(sorted(found))]


def find_pythons(folders: Iterable[Path]) -> dict[str, str]:
    """The first of each version that works, by its version."""
    found: dict[str, str] = {}
    for folder in folders:
        for version in KNOWN:
            path = folder / f"python{version}"
            said = _say_version(str(path)) if version not in found else ""
            if said.rpartition(".")[0] == version:
                found[version] = str(path)
    return found


def describe_python(python: str) -> str:
    return _say_version(python) or f"{python}, which does not start"


def _list_folders() -> list[Path]:
    path = [Path(each) for each in os.environ["PATH"].split(os.pathsep)]
    home = Path.home()
    # In an environment its own Python comes first; it is not the machine's.
    outside = [each for each in path if not (each / "activate").exists()]
    return outside + [found for each in FOLDERS for found in sorted(home.glob(each))]


def _say_version(python: str) -> str:
    try:
        said = subprocess.run(
            [python, "-c", _SAY], capture_output=True, text=True, timeout=60
        )
    except OSError:
        return ""
    return said.stdout.strip()
