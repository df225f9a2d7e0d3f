"""Play the recorded day again and show each difference: python -m tests.golden [--write]."""

from __future__ import annotations

import argparse
import shutil
import sys

from tests.golden.compare import list_differences
from tests.golden.recording import RECORDED, play_recorded_day


def main() -> None:
    parser = argparse.ArgumentParser(prog="tests.golden", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the files new")
    given = parser.parse_args()
    with play_recorded_day() as played:
        differences = list_differences(RECORDED, played)
        if given.write:
            shutil.rmtree(RECORDED, ignore_errors=True)
            shutil.copytree(played, RECORDED)
    for difference in differences:
        sys.stdout.write(f"{difference}\n")
    if given.write:
        sys.stdout.write(f"golden: the files in {RECORDED.name}/ were written\n")
        return
    if differences:
        sys.stdout.write(
            "golden: what is said or stored has changed. Where that is wanted, "
            "`make golden ARGS=--write` records it.\n"
        )
        sys.exit(1)
    sys.stdout.write("golden: nothing has changed\n")


if __name__ == "__main__":
    main()
