"""From values to pixels down a plot, with the few values that are written beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import floor, log, log10

# Where a plot begins, and the room below its base line for the words there.
TOP = 8.0
FOOT = 22.0
# A scale ends at one of these times a power of ten, in so many even parts.
_ENDS = ((1, 2), (1.2, 2), (1.6, 2), (2, 2), (3, 3), (4, 2), (6, 3), (8, 2), (10, 2))
_LEAST_TIMES = (1, 10, 60, 600, 3_600)
_RATIOS = (3, 4, 6, 8, 10, 12, 18, 24, 30, 36, 60, 100, 120, 144, 360, 600, 1_440)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """`steps` are the values written beside the plot, the highest first; `logarithmic`
    where each is a multiple of the next."""

    steps: tuple[float, ...]
    height: int
    logarithmic: bool = False

    @property
    def base(self) -> float:
        return self.height - FOOT

    @property
    def grid(self) -> list[float]:
        """Where the lines above the base line are."""
        return [self.find_y(each) for each in self.steps[:-1]]

    def find_y(self, value: float) -> float:
        """What lies beyond the scale is drawn at its edge."""
        low, high = self.steps[-1], self.steps[0]
        share = (
            log(max(value, low) / low) / log(high / low)
            if self.logarithmic
            else (value - low) / (high - low)
        )
        return round(self.base - min(max(share, 0.0), 1.0) * (self.base - TOP), 2)


def build_scale(highest: float, *, height: int, whole: bool = True) -> Scale:
    """From nought to the next round number; `whole` where halves mean nothing."""
    end, parts = _round_up(max(highest, 2.0 if whole else 0.01))
    steps = [end * part / parts for part in range(parts, -1, -1)]
    return Scale(steps=tuple(steps), height=height)


def build_time_scale(seconds: Iterable[float], *, height: int) -> Scale:
    """For waits that reach from seconds to days: each step so many times the next, and
    each a whole number of its unit."""
    known = [each for each in seconds if each > 0] or [60.0]
    low = max(each for each in _LEAST_TIMES if each <= max(min(known), 1))
    steps = next(
        (
            steps
            for steps in _list_time_steps(low)
            if steps[0] >= max(known)
            and not any("." in format_short_time(each) for each in steps)
        ),
        (low * _RATIOS[-1] ** 2, low * _RATIOS[-1], low),
    )
    return Scale(steps=steps, height=height, logarithmic=True)


def _list_time_steps(low: float) -> Iterator[tuple[float, float, float]]:
    for ratio in _RATIOS:
        yield low * ratio**2, low * ratio, low


def format_short_time(seconds: float) -> str:
    """Beside an axis, in one unit: "40 s", "64 m", "20 h", "3 d"."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= 2 * size or seconds == size:
            return f"{seconds / size:.1f}".removesuffix(".0") + f" {unit}"
    return f"{seconds:.0f} s"


def choose_places(count: int, *, wanted: int = 4) -> Sequence[int]:
    """Of so many places those that get a word below, the first and the last among them."""
    last = count - 1
    if last < wanted:
        return range(count)
    return sorted({round(last * part / (wanted - 1)) for part in range(wanted)})


def _round_up(highest: float) -> tuple[float, int]:
    size = 10.0 ** floor(log10(highest))
    for end, parts in _ENDS:
        # In whole numbers the parts have to be whole, too.
        if end * size >= highest and (size > 1 or end * size % parts == 0 or size < 1):
            return round(end * size, 6), parts
    return 10 * size, 2
