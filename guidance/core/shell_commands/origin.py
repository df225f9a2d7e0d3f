"""Where a nested text stands in the command that was given."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from guidance.core.shell_commands.findings import Span

# Pairs of a position in the nested text and the position of the same character in the
# text around it; between two pairs both run side by side.
Marks = Sequence[tuple[int, int]]


class Origin:
    """The part of an outer text that brought a nested one forth.

    Most commands are harmless and nobody asks, so `place` and `marks` are only called on
    demand. Without marks every position is that of the whole part.
    """

    __slots__ = ("_made", "_make", "_outer", "_place", "_span")

    def __init__(
        self,
        *,
        place: Span | Callable[[], Span],
        outer: Origin | None = None,
        marks: Callable[[], Marks] | None = None,
    ) -> None:
        self._place = place
        self._span: Span | None = None
        self._outer = outer
        self._make = marks
        self._made: Marks = ()

    def get_span(self, start: int, end: int) -> Span:
        """The span in the whole command of `text[start:end]`."""
        origin: Origin | None = self
        while origin is not None:
            start, end = origin._outside(start, end)
            origin = origin._outer
        return start, end

    def _whole(self) -> Span:
        if self._span is None:
            place = self._place
            self._span = place if isinstance(place, tuple) else place()
        return self._span

    def _outside(self, start: int, end: int) -> Span:
        if self._make is not None:
            self._made, self._make = self._make(), None
        made = self._made
        if not made:
            return self._whole()
        if len(made) == 1:
            # The text itself, or cut out of it, as most are: `_at` without a search.
            shift, last = made[0][1] - made[0][0], self._whole()[1]
            first = min(start + shift, last)
            stop = min(max(start, end - 1) + shift, last) + (end > start)
            return first, max(first, stop)
        first = self._at(start)
        return first, max(first, self._at(max(start, end - 1)) + (end > start))

    def _at(self, position: int) -> int:
        low, high = 0, len(self._made)
        while high - low > 1:
            middle = (low + high) // 2
            if self._made[middle][0] <= position:
                low = middle
            else:
                high = middle
        inside, outside = self._made[low]
        return min(outside + position - inside, self._whole()[1])


def make_top_origin(text: str) -> Origin:
    """The command itself: every position is its own."""
    return Origin(place=(0, len(text)), marks=lambda: ((0, 0),))


def cut_origin(outer: Origin, start: int, end: int) -> Origin:
    """A text that stands letter by letter in another."""
    return Origin(place=(start, end), outer=outer, marks=lambda: ((0, start),))
