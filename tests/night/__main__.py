"""A night: the whole suite with all examples, faults in what is new, and the benches.

python -m tests.night [--seed N] [--python /path/to/python3] [--only PART ...]

It works in a clone of the last commit, on one of the Pythons of this machine by chance, and
writes after each part how it came out to `docs/last-night.md`.
"""

from __future__ import annotations

import argparse
import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from tests.night.pythons import choose_python, describe_python
from tests.night.report import Night, Outcome
from tests.runner.database import CACHE, ROOT

LAST = ROOT / "docs/last-night.md"
SETUP = ("make", "setup")
SINCE = "1 week ago"
FAULTS = "200"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.night", allow_abbrev=False)
    parser.add_argument("--seed", type=int, help="repeat that night's chance")
    parser.add_argument("--python", help="this one, not one by chance")
    parser.add_argument("--only", nargs="+", help="these parts: suite, mutants, bench")
    options = parser.parse_args(arguments)
    seed = secrets.randbelow(2**32) if options.seed is None else options.seed
    python = options.python or choose_python(seed)
    parts = list_parts(seed)
    chosen = options.only or [*parts]
    clone = CACHE / "night"
    shutil.rmtree(clone, ignore_errors=True)
    commit = _clone(clone)
    night = Night(
        began=datetime.now(UTC),
        commit=commit,
        python=describe_python(python),
        seed=seed,
    )
    environment = {**os.environ, "PYTHON": python}
    try:
        for part in ("setup", *chosen):
            night.add(perform(part, parts.get(part, SETUP), clone, environment))
            LAST.write_text(night.render())
            if part == "setup" and not night.green:
                break  # nothing could run without it
    finally:
        shutil.rmtree(clone, ignore_errors=True)
    print(f"\n{night.render()}")
    return 0 if night.green else 1


def list_parts(seed: int) -> Mapping[str, Sequence[str]]:
    """What is run, in the clone and by its own Python."""
    own = (".venv/bin/python", "-m")
    chance = ("--seed", str(seed))
    week = _read_git("rev-list", "-1", f"--before={SINCE}", "HEAD")
    first = _read_git("rev-list", "--max-parents=0", "HEAD").splitlines()[-1]
    since = ("--since", week or first, "--count", FAULTS)
    return {
        "suite": (*own, "tests.suite", "--nightly", *chance),
        "mutants": (*own, "tests.mutants", *since, *chance),
        "bench": (*own, "bench", "--check"),
    }


def perform(
    part: str, command: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> Outcome:
    """Run it, show what it prints as it comes, and keep its own sentences."""
    print(f"\n===== night: {part} =====", flush=True)
    began = time.monotonic()
    paths = {**environment, "PYTHONPATH": "client"}
    with subprocess.Popen(
        command,
        cwd=folder,
        env=paths,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        said = []
        for line in process.stdout:
            sys.stdout.write(line)
            said.append(line)
    own = tuple(f"{name}: " for name in (part, "setup", "make"))
    sentences = [line.strip() for line in said if line.startswith(own)]
    return Outcome(
        part=part,
        code=process.returncode,
        seconds=time.monotonic() - began,
        sentences=sentences,
    )


def _clone(folder: Path) -> str:
    _read_git("clone", "--quiet", str(ROOT), str(folder))
    return _read_git("rev-parse", "--short", "HEAD")


def _read_git(*words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
