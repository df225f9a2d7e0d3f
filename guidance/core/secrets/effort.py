"""How much of one value is looked at.

A long text takes its time, and can be made of nothing but places that look like secrets.
So each search and each look is paid for, and a value that costs more than this is hidden
as a whole: nobody reads it, and nothing of it gets out.
"""

from __future__ import annotations

# All prices are about microseconds. A million characters, and six hundred names that
# promise a secret, each with a value that has to be judged, are within it.
LIMIT = 64_000
# Texts that may hold something are searched by every rule.
CHARACTERS_FOR_ONE = 32


class TooMuchError(Exception):
    """There are more places in a value than are looked at."""


class Effort:
    __slots__ = ("left",)

    def __init__(self, limit: int = LIMIT) -> None:
        self.left = limit

    def spend(self, price: int) -> None:
        self.left -= price
        if self.left < 0:
            raise TooMuchError
