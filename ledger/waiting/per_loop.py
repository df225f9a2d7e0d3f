"""One object for each event loop: made at first use, gone with its loop.

A process has one loop when it serves, and several in tests; what waits on one of them
cannot be woken from another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


class PerLoop(Generic[T]):
    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: WeakKeyDictionary[asyncio.AbstractEventLoop, T] = (
            WeakKeyDictionary()
        )

    def get(self) -> T:
        """That of the running event loop."""
        loop = asyncio.get_running_loop()
        found = self._made.get(loop)
        if found is None:
            found = self._made[loop] = self._make()
        return found

    def pop(self) -> T | None:
        """Take away that of the running event loop, if it was made."""
        return self._made.pop(asyncio.get_running_loop(), None)

    def list_all(self) -> list[T]:
        return list(self._made.values())
