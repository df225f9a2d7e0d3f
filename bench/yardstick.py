"""How fast this machine is just now, told by work that never changes.

Other work on a machine slows the judging by up to a half, and its processor time with it.
A limit that is missed then says nothing about the code. So the same piece of plain Python
is timed beside every figure: where it takes longer than on the machine that the limits
were set on, the limits grow as much. They never shrink.
"""

from __future__ import annotations

import re
import time
from typing import NamedTuple

# What the work took there at best, in seconds of processor time.
REFERENCE = 0.000_080
_ROUNDS = 5
_TEXT = "git status --short && ls -la src | head -20 && cat package.json; " * 12
_NEXT = re.compile(r"\s*([\w./-]+)|\s*(&&|[|;])")


class Timing(NamedTuple):
    """What something took, and how many times slower than the reference all was then."""

    seconds: float
    slowness: float

    @property
    def adjusted(self) -> float:
        """What it would have taken there."""
        return self.seconds / self.slowness


def measure_slowness() -> float:
    best = float("inf")
    for _ in range(_ROUNDS):
        began = time.process_time()
        _work()
        best = min(best, time.process_time() - began)
    return max(1.0, best / REFERENCE)


def _work() -> int:
    """Words told from operators and counted, as a reader of commands does it."""
    counts: dict[str, int] = {}
    at, words = 0, []
    while (match := _NEXT.match(_TEXT, at)) is not None:
        at = match.end()
        if match.lastindex == 1:
            words.append(match[1].lower())
            continue
        for word in words:
            counts[word] = counts.get(word, 0) + 1
        words = []
    return len(counts)
