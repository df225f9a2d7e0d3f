"""How long an agent waits for `import checkrail`, in fresh interpreters."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

from bench.figures import Figure, format_milliseconds

TIMES = 10
TARGET = 0.2
_CODE = """
import time
began = time.perf_counter()
{statement}
print(time.perf_counter() - began)
"""


def measure_import_time() -> Iterator[Figure]:
    """The best of several: what the machine does meanwhile is not ours."""
    for statement, target in (
        ("import checkrail", TARGET),
        ("from checkrail import Checkrail", None),
        ("import httpx", None),
    ):
        best = min(_time_import(statement) for _ in range(TIMES))
        yield Figure(
            label=f"client: {statement}",
            figure=format_milliseconds(best),
            target=f"< {format_milliseconds(target)}" if target else "",
            met=best < target if target else None,
        )


def _time_import(statement: str) -> float:
    told = subprocess.run(
        [sys.executable, "-c", _CODE.format(statement=statement)],
        cwd="client",
        capture_output=True,
        text=True,
        check=True,
    )
    return float(told.stdout)
