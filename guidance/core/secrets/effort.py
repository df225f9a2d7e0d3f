"""How much of one value is looked at place by place.

Searching costs the same for every text of a length. What is found is looked at in
Python, and a text can be made of nothing but places that look like secrets. So each
look is paid for, and a value that costs more than this is hidden as a whole: nobody
reads it, and nothing of it gets out.
"""

from __future__ import annotations

# All prices are about microseconds. Six hundred names that promise a secret, each with
# a value that has to be judged, are within it.
LIMIT = 30_000


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
