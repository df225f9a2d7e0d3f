"""So many at once in this process, whichever loops and threads they run on."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from concurrent.futures import Future
from contextlib import asynccontextmanager
from threading import Lock


class Places:
    """First come, first served. An asyncio.Semaphore would serve one loop only."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._free = count
        self._lock = Lock()
        self._waiting: deque[Future[None]] = deque()

    @asynccontextmanager
    async def take_one(self, *, within: float) -> AsyncIterator[None]:
        """A place for the length of the block, or TimeoutError."""
        await self._take(within)
        try:
            yield
        finally:
            self._give()

    async def _take(self, within: float) -> None:
        with self._lock:
            if self._free:
                self._free -= 1
                return
            place: Future[None] = Future()
            self._waiting.append(place)
        try:
            async with asyncio.timeout(within):
                await asyncio.wrap_future(place)
        except BaseException:
            # Somebody may have given it to us in the very moment we stopped waiting.
            if not place.cancel():
                self._give()
            raise

    def _give(self) -> None:
        with self._lock:
            while self._waiting:
                place = self._waiting.popleft()
                if place.set_running_or_notify_cancel():
                    place.set_result(None)
                    return
            self._free += 1
