"""A process that counts a project's entries, in small slices, and perhaps dies of it.

Run it as `python counter.py PROJECT_ID SLICES`. With 0 it counts until nothing is left,
with -1 until somebody kills it, and says so once it has counted something. Else it is
killed within the transaction of so many slices: of an odd number between moving the cursor
and adding the figures, of an even one behind that.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

# These need the apps that the line above has loaded.
from ledger.statistics import counting  # noqa: E402
from ledger.statistics.store import add_figures  # noqa: E402

SIZE = 5


def main(project_id: int, slices: int) -> None:
    done = 0

    def add(**given: Any) -> None:
        nonlocal done
        done += 1
        if done != slices or slices % 2 == 0:
            add_figures(**given)
        if done == slices:
            os.kill(os.getpid(), signal.SIGKILL)

    counting.add_figures = add  # type: ignore[attr-defined]
    while counting.count_slice(project_id=project_id, size=SIZE):
        pass
    if slices < 0:
        count_on(project_id)


def count_on(project_id: int) -> None:
    said = False
    while True:
        if counting.count_slice(project_id=project_id, size=SIZE):
            sys.stdout.write("" if said else "counted\n")
            sys.stdout.flush()
            said = True
        else:
            time.sleep(0.01)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
