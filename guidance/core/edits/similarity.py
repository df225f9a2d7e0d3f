"""Lines that are nearly the same: windows of as many lines as the edit has.

How alike two texts are is one minus the share of characters that would have to be put
in or taken out, over both together. Neighbouring windows share most of their lines, so
of several that overlap only the best one counts, and its borders are then moved as long
as that makes it better: a line more or less in the file does not cut the match short.
"""

from __future__ import annotations

from itertools import accumulate

from rapidfuzz.distance import Indel

from guidance.core.edits.lines import Lines

LEAST = 0.90
# A border is moved by so many lines at most.
_MOVE = 3
# What it costs to look at the length of a window, and to compare it, beside what its
# characters cost; and how many of those are compared at once.
_VISIT = 50
_COMPARE = 500
_BAND = 512


class Effort:
    """What the similarity layer may still cost, in steps of comparing.

    Counted, not timed, so that the same edits always come out the same. The default
    is about a second; edits of a few lines in a file of 1,000 never come near it.
    """

    __slots__ = ("left",)

    def __init__(self, limit: int = 300_000_000) -> None:
        self.left = limit

    def take(self, amount: int) -> bool:
        self.left -= amount
        return self.left >= 0


class Windows:
    """The lines of the original, ready to be compared in windows."""

    def __init__(self, lines: Lines) -> None:
        self._text = "\n".join(lines.contents)
        sizes = map(len, lines.contents)
        self._starts = [*accumulate((size + 1 for size in sizes), initial=0)]
        self._total = len(lines.contents)

    def similar(
        self, old: str, *, limit: int, effort: Effort
    ) -> list[tuple[int, int]] | None:
        """First and last line (not included) of each match, best first.

        None when looking would cost more than is left.
        """
        wanted = Lines(old).contents
        size = len(wanted)
        if not any(map(str.strip, wanted)) or size > self._total:
            return []
        target = "\n".join(wanted)
        scores = self._scores(target, size, effort)
        if scores is None:
            return None
        best = [0.0] * self._total
        found: list[tuple[int, int]] = []
        for first in sorted(scores, key=lambda first: (-scores[first], first)):
            score = scores[first]
            # Overlapping windows that are equally good are two matches, not one.
            if max(best[first : first + size]) > score:
                continue
            best[first : first + size] = [score] * size
            moved = self._moved(first, first + size, target, effort)
            if moved is None:
                return None
            found.append(moved)
            if len(found) > limit:
                break
        return found

    def _scores(
        self, target: str, size: int, effort: Effort
    ) -> dict[int, float] | None:
        if not effort.take(_VISIT * self._total):
            return None
        # By length alone: what two texts share is at most the shorter of them.
        low = len(target) * LEAST / (2 - LEAST)
        high = len(target) * (2 - LEAST) / LEAST
        alike = [
            first
            for first, (start, end) in enumerate(
                zip(self._starts, self._starts[size:], strict=False)
            )
            if low <= end - start - 1 <= high
        ]
        scores: dict[int, float] = {}
        for first in alike:
            score = self._score(target, first, first + size, effort)
            if score is None:
                return None
            if score:
                scores[first] = score
        return scores

    def _moved(
        self, first: int, last: int, target: str, effort: Effort
    ) -> tuple[int, int] | None:
        ranks = []
        for start in range(max(0, first - _MOVE), min(first + _MOVE, last - 1) + 1):
            stop = min(self._total, last + _MOVE) + 1
            for end in range(max(start + 1, last - _MOVE), stop):
                score = self._score(target, start, end, effort)
                if score is None:
                    return None
                distance = abs(start - first) + abs(end - last)
                ranks.append((score, -distance, -start, end))
        _, _, start, end = max(ranks)
        return -start, end

    def _score(
        self, target: str, first: int, last: int, effort: Effort
    ) -> float | None:
        """How alike they are, 0 if too little; None when there is no effort left."""
        window = self._text[self._starts[first] : self._starts[last] - 1]
        both = len(target) + len(window)
        # The band of differences that is compared grows with the length.
        if not effort.take(_COMPARE + both * (1 + both // _BAND)):
            return None
        return Indel.normalized_similarity(target, window, score_cutoff=LEAST)
