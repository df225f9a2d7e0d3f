"""Which reviews agents wait for in this process, stored every few seconds.

One statement for all of them, beside the event loop, and none while nobody waits: a
parked long-poll costs an entry in a dictionary. What is stored is a hint for reviewers;
nothing depends on it.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from uuid import UUID

from django.utils import timezone

from ledger.waiting.per_loop import PerLoop
from ledger.writer.db_threads import run_in_db_thread
from reviews.queue.agent_waits import store_waits

STORE_SECONDS = 5.0

logger = logging.getLogger(__name__)


class AgentWaits:
    """Of one event loop; its task lives as long as somebody waits."""

    def __init__(self) -> None:
        self._waiting: Counter[UUID] = Counter()
        self._left: dict[UUID, datetime] = {}
        self._task: asyncio.Task[None] | None = None

    @contextmanager
    def wait_for(self, review: UUID) -> Iterator[None]:
        self._waiting[review] += 1
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._store())
        try:
            yield
        finally:
            self._waiting[review] -= 1
            if not self._waiting[review]:
                del self._waiting[review]
                self._left[review] = timezone.now()

    async def _store(self) -> None:
        while self._waiting or self._left:
            seen = {**self._left, **dict.fromkeys(self._waiting, timezone.now())}
            self._left.clear()
            try:
                await run_in_db_thread(partial(store_waits, seen))
            except Exception:
                logger.exception("Who waits for reviews could not be stored")
            await asyncio.sleep(STORE_SECONDS)


_waits = PerLoop(AgentWaits)


def get_agent_waits() -> AgentWaits:
    """Those of the running event loop."""
    return _waits.get()
