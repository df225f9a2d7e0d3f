"""What is measured over a run's recent steps: the trend of spend, and repetition.

Everything is counted in whole numbers and divided at most once, so that a figure
which lies exactly on its limit is never pushed over it by rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import mul
from typing import NamedTuple

# The longest cycle of steps that counts as repetition.
CYCLE_LIMIT = 4


class Trend(NamedTuple):
    """A least-squares line: its slope as a share of the mean, and whether it is real.

    `significant` means that the slope is more than twice its own standard error.
    """

    slope: float
    significant: bool
    points: int


def fit_trend(figures: Sequence[int]) -> Trend:
    """The line through at least three figures, the oldest first."""
    n = len(figures)
    total = sum(figures)
    along = sum(map(mul, figures, range(n)))
    # n² times the usual sums of squares: x with x, x with y, y with y.
    xx = n * n * (n * n - 1) // 12
    xy = n * along - n * (n - 1) // 2 * total
    if total == 0:
        return Trend(0.0, False, n)
    significant = False
    if xy > 0:
        # slope > 2 standard errors, squared and cleared of fractions. A falling line
        # never counts.
        yy = n * sum(map(mul, figures, figures)) - total * total
        significant = xy * xy * (n - 2) > 4 * (xx * yy - xy * xy)
    return Trend(xy * n / (xx * total), significant, n)


def find_cycle(signatures: Sequence[str | None], *, times: int) -> int | None:
    """The shortest cycle that the newest steps went through `times` whole times, or 0.

    A step without a signature is like no other; after one, nothing can be told.
    """
    count = len(signatures)
    newest = signatures[-1]
    if newest is None:
        return None
    for length in range(1, CYCLE_LIMIT + 1):
        whole = length * times
        if whole > count:
            break
        if signatures[-1 - length] != newest:
            continue
        last = signatures[-whole:]
        if None not in last and last[length:] == last[:-length]:
            return length
    return 0
