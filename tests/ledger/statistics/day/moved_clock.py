"""The clock of a ledger by which a day passes in as many hours as somebody says.

It is run before a server, in its process. The size of the file DAY_HOURS says how many hours
have passed; within an hour time goes by as usual, so that nothing expires that would
not. All processes that were given the same file show the same time.
"""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta

import django

HOURS = 24
BEGAN, FILE = float(os.environ["DAY_BEGAN"]), os.environ["DAY_HOURS"]
# Its last hour is not over now, and no review of the first one has expired.
FIRST = datetime.fromtimestamp(BEGAN, UTC) - timedelta(hours=HOURS - 0.5)


def read_clock() -> datetime:
    hours = os.stat(FILE).st_size
    return FIRST + timedelta(hours=hours, seconds=time.time() - BEGAN)


def move() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    # It needs the apps that the line above has loaded.
    from ledger.writer.batch import Committer

    defaults = Committer.__init__.__kwdefaults__
    assert defaults is not None
    defaults["read_clock"] = read_clock


if __name__ == "__main__":
    move()
