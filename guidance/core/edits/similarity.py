"""Lines that are nearly the same: windows of as many lines as the edit has.

How much two texts differ is the share of characters that would have to be put in or
taken out, over both together. Neighbouring windows share most of their lines, so of
several that overlap only the best one counts, and its borders are then moved as long as
that makes it better: a line more or less in the file does not cut the match short.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from rapidfuzz.distance import Indel

from guidance.core.edits.lines import split_contents
from guidance.core.effort import Effort

# At most one in so many characters differs.
_ONE_IN = 10
# A border is moved by so many lines at most.
_MOVE = 3
# What is left for everything else; the edit that is nearly right can do without.
KEPT = 25_000
# What it costs to look at all borders, besides comparing.
_BORDERS = 60
# A microsecond's worth: windows passed over, lines marked, and steps of comparing, which
# takes one for each character of the one text and each word of bits of the other. Letters
# beyond the first 256 are written as others first; where that cannot be, each has to be
# looked up, which a caller can make slow.
_PASSED = 4
_MARKED = 50
_STEPS = 350
_STEPS_BEYOND = 8
_BITS = 64
_LETTERS = 256
_REWRITTEN = 15


class Windows:
    """The lines of the original, ready to be compared in windows."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._text = "\n".join(lines)
        self._starts = [*accumulate((len(line) + 1 for line in lines), initial=0)]
        self._total = len(lines)

    def find_similar(
        self, old: str, *, limit: int, effort: Effort
    ) -> list[tuple[int, int]] | None:
        """First and last line (not included) of each match, best first.

        None when looking would cost more than can be spared.
        """
        wanted = split_contents(old)
        size = len(wanted)
        if not any(map(str.strip, wanted)) or size > self._total:
            return []
        try:
            compared = _Comparison("\n".join(wanted), self._text, effort)
            return self._find_best(compared, size, limit)
        except _TooCostlyError:
            return None

    def _find_best(
        self, compared: _Comparison, size: int, limit: int
    ) -> list[tuple[int, int]]:
        scores = self._compute_scores(compared, size)
        best = [0.0] * self._total
        found: list[tuple[int, int]] = []
        for first in sorted(scores, key=lambda first: (-scores[first], first)):
            score = scores[first]
            compared.pay(1 + size // _MARKED)
            # Overlapping windows that are equally good are two matches, not one.
            if max(best[first : first + size]) > score:
                continue
            best[first : first + size] = [score] * size
            found.append(self._move(compared, first, first + size, score))
            if len(found) > limit:
                break
        return found

    def _compute_scores(self, compared: _Comparison, size: int) -> dict[int, float]:
        """Of the windows that are alike enough.

        A window further down differs by the lines that it loses and gains, and by no
        more. After one that is quite different there is nothing to look at for a while.
        """
        compared.pay(self._total // _PASSED)
        starts, length = self._starts, len(compared.target)
        scores: dict[int, float] = {}
        # How much any window differs at least: the difference of this one, less the way.
        least, here = 0, 0
        for first in range(self._total - size + 1):
            way = starts[first] + starts[first + size] - here
            both = length + starts[first + size] - starts[first] - 1
            shorter = abs(both - 2 * length)
            if max(least - way, shorter) * _ONE_IN > both:
                continue
            differs = compared.count_differences(
                starts[first], starts[first + size] - 1
            )
            if differs * _ONE_IN <= both:
                scores[first] = 1 - differs / both
            least, here = differs, starts[first] + starts[first + size]
        return scores

    def _move(
        self, compared: _Comparison, first: int, last: int, score: float
    ) -> tuple[int, int]:
        compared.pay(_BORDERS)
        length, starts = len(compared.target), self._starts
        best = (score, 0, -first, last)
        for start in range(max(0, first - _MOVE), min(first + _MOVE, last - 1) + 1):
            stop = min(self._total, last + _MOVE) + 1
            for end in range(max(start + 1, last - _MOVE), stop):
                size = starts[end] - starts[start] - 1
                rank = -abs(start - first) - abs(end - last), -start, end
                # It cannot be more alike than the lengths are.
                if (1 - abs(length - size) / (length + size), *rank) <= best:
                    continue
                differs = compared.count_differences(starts[start], starts[end] - 1)
                best = max(best, (1 - differs / (length + size), *rank))
        _, _, start, end = best
        return -start, end


class _Comparison:
    """What is looked for, the text that it is looked for in, and what comparing may cost.

    Letters are written so that all of them are among the first 256: those that are
    looked for as one each, all others as one.
    """

    __slots__ = ("_effort", "_steps", "_text", "_words", "target")

    def __init__(self, target: str, text: str, effort: Effort) -> None:
        self._effort = effort
        self._words = 1 + len(target) // _BITS
        self._steps = _STEPS
        if not (_is_simple(target) and _is_simple(text)):
            self.pay((len(target) + len(text)) // _REWRITTEN)
            letters = sorted(set(target))
            if len(letters) < _LETTERS:
                table = _Table((ord(letter), n) for n, letter in enumerate(letters, 1))
                target, text = target.translate(table), text.translate(table)
            else:
                self._steps = _STEPS_BEYOND
        self.target = target
        self._text = text

    def count_differences(self, start: int, end: int) -> int:
        """How many characters have to be put in or taken out."""
        self.pay(1 + (end - start) * self._words // self._steps)
        return Indel.distance(self.target, self._text[start:end])

    def pay(self, price: int) -> None:
        if not self._effort.spend_if_spare(price, keep=KEPT):
            raise _TooCostlyError


class _Table(dict[int, int]):
    """All letters that are not in it are written as the same one."""

    def __missing__(self, letter: int) -> int:
        self[letter] = 0
        return 0


def _is_simple(text: str) -> bool:
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        return False
    return True


class _TooCostlyError(Exception):
    """Comparing would cost more than can be spared."""
