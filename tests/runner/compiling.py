"""The first run on a machine compiles every test once, and not once in each process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path


def compile_tests(environment: Mapping[str, str]) -> None:
    """Let pytest import every test, half of them in each of two processes.

    The processes of a run import all tests at the same time. Without this each of them
    would compile every file, which takes three times as long as importing it.
    """
    print("suite: compiling the tests, because this is the first run", flush=True)
    command = [sys.executable, "-m", "pytest", "--collect-only", "-qq"]
    files = sorted(map(str, Path("tests").rglob("test_*.py")))
    halves = [
        subprocess.Popen([*command, *half], env=environment, stdout=subprocess.DEVNULL)
        for half in (files[::2], files[1::2])
    ]
    try:
        for half in halves:
            half.wait()  # what cannot be imported is told by the run
    finally:
        for half in halves:
            half.terminate()
