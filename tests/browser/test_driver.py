"""A browser test whose driver died is run again, and so are those after it."""

from __future__ import annotations

import os
import signal
from itertools import count
from pathlib import Path

from tests.browser.conftest import Desk

attempts = count(1)


def test_a_driver_that_died_is_replaced(desk: Desk) -> None:
    attempt = next(attempts)
    if attempt == 1:
        os.kill(driver_process(), signal.SIGKILL)
    desk.open("/healthz")
    assert attempt == 2


def driver_process() -> int:
    for children in Path("/proc/self/task").glob("*/children"):
        for process in children.read_text().split():
            if b"run-driver" in Path(f"/proc/{process}/cmdline").read_bytes():
                return int(process)
    raise AssertionError("no driver runs")
