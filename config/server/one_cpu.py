"""Keep the event loop and the writer's thread on one CPU, whichever that is.

They take turns anyway: Python runs one thread of a process at a time. On two CPUs each turn
begins with a cache that knows nothing of what the other one left, and every step costs a
sixth more of everything (bench steps, docs/adr/0048). Which CPU it is stays the kernel's
choice: every second they are free for a moment, so that it can move them away from others.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Iterable
from pathlib import Path

from ledger.writer import get_writer

HELD_SECONDS = 1.0
FREE_SECONDS = 0.02

logger = logging.getLogger(__name__)


def may_keep_on_one_cpu() -> bool:
    """Linux lets a thread choose, and there has to be a choice."""
    return hasattr(os, "sched_setaffinity") and len(os.sched_getaffinity(0)) > 1


async def keep_on_one_cpu() -> None:
    """Until it is cancelled, in the event loop whose thread it is about."""
    try:
        await _keep_together(os.sched_getaffinity(0))
    except OSError:
        # Forbidden where this runs: it goes on as without.
        logger.warning("Threads cannot be kept on one CPU", exc_info=True)


async def _keep_together(allowed: set[int]) -> None:
    try:
        while True:
            together = {threading.get_native_id(), get_writer().thread_id}
            _set_cpus(together, {_get_own_cpu()})
            # A thread begins with the CPUs of the one that started it.
            _set_cpus(_list_threads() - together, allowed)
            await asyncio.sleep(HELD_SECONDS)
            _set_cpus(together, allowed)
            await asyncio.sleep(FREE_SECONDS)
    finally:
        _set_cpus(_list_threads(), allowed)


def _set_cpus(threads: Iterable[int], cpus: Iterable[int]) -> None:
    for thread in threads:
        try:
            os.sched_setaffinity(thread, cpus)
        except ProcessLookupError:
            continue  # it has ended


def _list_threads() -> set[int]:
    return {int(task.name) for task in Path("/proc/self/task").iterdir()}


def _get_own_cpu() -> int:
    """The 39th field, counted from the first one behind the program's name (man 5 proc)."""
    fields = Path("/proc/thread-self/stat").read_text().rpartition(")")[2].split()
    return int(fields[36])
