"""Who follows a run or waits for it in this process, and whether they still may.

A stream may be open for days, its key be revoked meanwhile, and its reader fall asleep. An
agent that waits for a person is held for a minute, a hook for ten.
One look every few seconds goes over all of them together: two or three queries, however
many there are.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from ledger.waiting.per_loop import PerLoop
from ledger.writer.db_threads import run_in_db_thread
from reviews.open_access import Access, list_refused

ACCESS_SECONDS = 2.0
# A reader that takes nothing for so long is let go; it comes back where it stood.
STALLED_SECONDS = 60.0

logger = logging.getLogger(__name__)


class Follower:
    """One open stream, or one that waits. Made by the task that answers it."""

    def __init__(self, reader: Access, sending: set[Follower] | None = None) -> None:
        self.reader = reader
        # Those that are sent to at this moment, which may stall.
        self._sending = set() if sending is None else sending
        self.refused = False
        self._sending_since: float | None = None
        self._waiting_on: asyncio.Future[Any] | None = None
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()

    async def wait_for(self, wake_up: asyncio.Future[Any], *, seconds: float) -> bool:
        """Wait to be woken; whether that was in time."""
        self._waiting_on = wake_up
        try:
            async with asyncio.timeout(seconds):
                await wake_up
        except TimeoutError:
            return False
        finally:
            self._waiting_on = None
        return True

    def mark_sending(self) -> None:
        self._sending_since = self._loop.time()
        self._sending.add(self)

    def mark_sent(self) -> None:
        self._sending_since = None
        self._sending.discard(self)

    @property
    def stalled(self) -> bool:
        since = self._sending_since
        return since is not None and self._loop.time() - since > STALLED_SECONDS

    def refuse(self) -> None:
        """First politely: a stream that waits ends by itself. Then by force."""
        if self.refused:
            self.cancel()
        self.refused = True
        if self._waiting_on is not None and not self._waiting_on.done():
            self._waiting_on.set_result(None)

    def cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()


class Followers:
    """Lives on one event loop; get it with `get_followers()`."""

    def __init__(self) -> None:
        # Of thousands that wait, most come with the same few keys (bench waiting).
        self._open: dict[Access, set[Follower]] = {}
        self._sending: set[Follower] = set()
        self._watch: asyncio.Task[None] | None = None

    def join(self, reader: Access) -> Follower:
        follower = Follower(reader, self._sending)
        self._open.setdefault(reader, set()).add(follower)
        if self._watch is None:
            loop = asyncio.get_running_loop()
            self._watch = loop.create_task(self._watch_over())
        return follower

    def leave(self, follower: Follower) -> None:
        follower.mark_sent()
        found = self._open.get(follower.reader)
        if found is not None:
            found.discard(follower)
            if not found:
                del self._open[follower.reader]

    @contextmanager
    def watch(self, reader: Access) -> Iterator[Follower]:
        """Somebody who is woken as soon as they may look no longer."""
        follower = self.join(reader)
        try:
            yield follower
        finally:
            self.leave(follower)

    async def _watch_over(self) -> None:
        """Until nobody is left to watch over."""
        while True:
            await asyncio.sleep(ACCESS_SECONDS)
            if not self._open:
                self._watch = None
                return
            for follower in self._sending:
                if follower.stalled:
                    follower.cancel()
            readers = set(self._open)
            try:
                refused = await run_in_db_thread(partial(list_refused, readers))
            except Exception:
                # The database is away: the streams have nothing to send either.
                logger.exception("The readers of streams could not be checked")
                continue
            for reader in refused:
                for follower in [*self._open.get(reader, ())]:
                    follower.refuse()


_followers = PerLoop(Followers)


def get_followers() -> Followers:
    """Those of the running event loop."""
    return _followers.get()
