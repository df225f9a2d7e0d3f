"""The whole suite in both profiles at once: SQLite alone, and PostgreSQL with Redis.

python -m tests.suite [--only sqlite|postgres] [--strict] [--seed N] [arguments for pytest]
python -m tests.suite --quick [--room ROOM]      SQLite, no processes, no browsers
python -m tests.suite --nightly                  all examples of all properties, strict

Order and examples are chance, from a seed that is printed; `--seed N` repeats them.

What no second database can change is tested once, with SQLite: see tests/runner/lanes.py.
"""

from __future__ import annotations

import argparse
import os
import re
import secrets
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.runner.chromium import ensure_browser
from tests.runner.lanes import QUICK
from tests.runner.profiles import PROFILES, run_profiles
from tests.runner.record import left_out

# Quick tests hardly ever wait: as many processes as a small machine has cores.
QUICK_SPREAD = ("-n", "2", "--dist", "worksteal")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.suite", allow_abbrev=False)
    parser.add_argument("--only", choices=PROFILES, help="run this profile alone")
    parser.add_argument("--quick", action="store_true", help="what is quick, on SQLite")
    parser.add_argument("--room", default="", help="with --quick: this package alone")
    parser.add_argument("--nightly", action="store_true", help="all examples, fresh")
    parser.add_argument("--seed", type=int, help="repeat the order and the examples")
    parser.add_argument("--strict", action="store_true", help="nothing is tried again")
    options, pytest_arguments = parser.parse_known_args(arguments)
    # SIGTERM unwinds like Ctrl-C does, so servers and folders are cleared away.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if options.quick:
        profiles = ["sqlite"]
        rooms = list_tests_of_room(options.room) if options.room else []
        pytest_arguments = [*QUICK_SPREAD, f"--lane={QUICK}", *pytest_arguments, *rooms]
    else:
        ensure_browser()
        profiles = [options.only] if options.only else [*PROFILES]
        os.environ["CHECKRAIL_FRESH_EXAMPLES"] = "1"
    if options.nightly:
        os.environ["CHECKRAIL_ALL_EXAMPLES"] = "1"
        pytest_arguments += ["--timeout=1800"]
    seed = secrets.randbelow(2**32) if options.seed is None else options.seed
    seeds = [f"--hypothesis-seed={seed}", f"--randomly-seed={seed}"]
    print(f"suite: --seed {seed} repeats the order and the examples", flush=True)
    strict = options.strict or options.quick or options.nightly
    results = run_profiles(profiles, [*seeds, *pytest_arguments], strict=strict)
    print("\n===== summary =====", flush=True)
    for sentence in left_out([result.outcomes for result in results]):
        print(f"suite: left out: {sentence}", flush=True)
    for result in results:
        for test in result.unsteady:
            print(f"suite: unsteady, passes alone only: {test}", flush=True)
        print(f"suite: {result.sentence}", flush=True)
        if not options.quick:
            print(f"suite: {', '.join(result.outcomes.list_dearest())}", flush=True)
    print(f"suite: --seed {seed} repeats the order and the examples", flush=True)
    # A process that was killed has a negative code, and that is no success either.
    return max(abs(result.code) for result in results)


def list_tests_of_room(room: str) -> list[str]:
    """The folder of a package's tests; if it has none, the files that import it."""
    folder = Path("tests", *room.replace("/", ".").split("."))
    if folder.is_dir():
        return [str(folder)]
    imports = re.compile(rf"^(from|import) {re.escape(room)}\b", re.MULTILINE)
    files = sorted(Path("tests").rglob("test_*.py"))
    found = [str(path) for path in files if imports.search(path.read_text())]
    return found or sys.exit(f"suite: no test is about {room}, and none imports it.")


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
