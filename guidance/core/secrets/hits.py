"""A place in one text that holds a secret."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

# More secrets than this in one value are hidden, and not told one by one.
HIT_LIMIT = 100
# The last one told, where there are more: of this and what follows nothing is said.
REST = "unread-rest"
# Hidden, and told by the REST before it.
UNTOLD = ""


class Hit(NamedTuple):
    """`start` to `end` is hidden; of that, `core` to `core_end` nobody may know.

    The rest is public, such as the first letters of a format. Without a `core_end` the
    core goes to the end.
    """

    start: int
    end: int
    kind: str
    core: int
    core_end: int = 0

    def get_secret(self, text: str) -> str:
        return text[self.core : self.core_end or self.end]


def merge_hits(hits: Iterable[Hit]) -> list[Hit]:
    """In order, without overlaps. Of two, the one that was named first gives its kind."""
    order = {hit: place for place, hit in reversed(list(enumerate(hits)))}
    kept: list[Hit] = []
    for hit in sorted(order):
        last = kept[-1] if kept else None
        if last is None or hit.start >= last.end:
            kept.append(hit)
        else:
            kept[-1] = _join(last, hit, first=order[last] <= order[hit])
            order.setdefault(kept[-1], min(order[last], order[hit]))
    return kept


def _join(one: Hit, other: Hit, *, first: bool) -> Hit:
    best = one if first else other
    if best.start <= min(one.start, other.start) and best.end >= max(
        one.end, other.end
    ):
        return best
    start, end = min(one.start, other.start), max(one.end, other.end)
    return Hit(start, end, best.kind, start)
