"""What a process costs, as Linux tells it."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
LOOK_SECONDS = 0.5
QUIET_SHARE = 0.1  # of one core


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessCost:
    """`memory` is the proportional set size, in bytes: shared pages count in part."""

    memory: int
    threads: int


def measure_process(pid: int) -> ProcessCost:
    process = Path(f"/proc/{pid}")
    return ProcessCost(
        memory=_read_number(process / "smaps_rollup", "Pss:") * 1024,
        threads=_read_number(process / "status", "Threads:"),
    )


def _read_number(file: Path, name: str) -> int:
    for line in file.read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1])
    raise LookupError(f"{file} does not tell {name}")


async def wait_until_idle(pid: int) -> None:
    """Returns once the process has worked off what it was given."""
    before = read_processor_seconds(pid)
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        now = read_processor_seconds(pid)
        if now - before < QUIET_SHARE * LOOK_SECONDS:
            return
        before = now


def read_processor_seconds(pid: int) -> float:
    # The name stands in brackets and may hold spaces; the figures come after it.
    figures = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    user, system = figures[11], figures[12]
    return (int(user) + int(system)) / TICKS
