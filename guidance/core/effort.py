"""How much may be spent on one piece of work, in prices that are about microseconds.

Counted, not timed: the same input comes out the same on a busy and on a quiet machine,
and again at replay.
"""

from __future__ import annotations


class TooMuchError(Exception):
    """The work costs more than may be spent on it."""


class Effort:
    """Counts down. Once it is overspent, nothing more is done with it."""

    __slots__ = ("left", "limit")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.left = limit

    @property
    def share(self) -> float:
        """How much of it is used, from 0 to 1."""
        return min(1.0, 1.0 - self.left / self.limit)

    def spend(self, price: int) -> None:
        self.left -= price
        if self.left < 0:
            raise TooMuchError

    def spend_if_spare(self, price: int, *, keep: int) -> bool:
        """Pays for something that can be left out, if that leaves so much for the rest."""
        if self.left - price < keep:
            return False
        self.left -= price
        return True
