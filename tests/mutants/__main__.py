"""Plants faults where a diff has changed the product, and lists those that no test notices.

python -m tests.mutants [--since REF] [--count 40] [--seed N] [FILE ...]
python -m tests.mutants --written FAULTS.json    [{"path": …, "before": …, "after": …}, …]

A fault is tried by the tests that enter its function, on SQLite, without browsers and
processes. Whatever survives wants a test, or is no fault: the same outcome by another way.
"""

from __future__ import annotations

import argparse
import json
import secrets
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.mutants.changes import list_nearest, read_changes, take_whole
from tests.mutants.faults import read_faults
from tests.runner.lanes import LIGHT
from tests.runner.profiles import run_profiles

COUNT = 40
# One process collects and forks; the order of the tests says which come first.
ALONE = ("-n", "0", "-p", "no:randomly", "-p", "tests.mutants.session", "--timeout=60")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.mutants", allow_abbrev=False)
    parser.add_argument("--since", default="HEAD", help="a commit; HEAD: not committed")
    parser.add_argument("--count", type=int, default=COUNT, help="try no more")
    parser.add_argument("--seed", help="choose the same ones again")
    parser.add_argument("--written", type=Path, help="try these, and no others")
    parser.add_argument("files", nargs="*", help="these as a whole, whatever changed")
    options = parser.parse_args(arguments)
    if options.written:
        changes = take_whole({each.path for each in read_faults(options.written)})
    elif options.files:
        changes = take_whole(options.files)
    else:
        changes = read_changes(options.since)
    nearest = list_nearest(changes)
    if not nearest:
        sys.exit("mutants: no test is near to what has changed.")
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        lines = {path: sorted(each) for path, each in changes.items()}
        Path(file.name).write_text(json.dumps(lines))
        chosen = [f"--lines={file.name}", f"--faults={options.count}"]
        chosen.append(f"--fault-seed={options.seed or secrets.randbelow(2**32)}")
        if options.written:
            chosen.append(f"--written={options.written.resolve()}")
        lane = f"--lane={LIGHT}"
        (result,) = run_profiles(["sqlite"], [*ALONE, lane, *chosen, *nearest])
    return abs(result.code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
