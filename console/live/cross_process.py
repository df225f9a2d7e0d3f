"""Tell the other processes that a project changed, through the channel layer.

Content-free and coalesced: many commits become one message. It runs on a thread of its
own, so that a Redis that is slow or gone never holds up a commit; whoever misses a
nudge finds the change at the next re-check.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time

from channels.layers import get_channel_layer
from django.conf import settings

from ledger.writer import Committed, listen_always

GROUP = "console"
PAUSE_SECONDS = 0.05

logger = logging.getLogger(__name__)


class Announcer:
    def __init__(self) -> None:
        self._projects: set[int] = set()
        self._lock = threading.Lock()
        self._news = threading.Event()
        self._thread: threading.Thread | None = None

    def committed(self, news: Committed) -> None:
        with self._lock:
            self._projects |= news.projects
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(
                    target=self._work, name="nudges", daemon=True
                )
                self._thread.start()
        self._news.set()

    def _work(self) -> None:
        asyncio.run(self._send_for_ever())

    async def _send_for_ever(self) -> None:
        layer = get_channel_layer()
        assert layer is not None
        while True:
            self._news.wait()
            self._news.clear()
            with self._lock:
                projects, self._projects = self._projects, set()
            message = {"type": "nudge", "projects": sorted(projects)}
            try:
                await layer.group_send(GROUP, message)
            except Exception as error:
                logger.warning("A nudge could not be sent: %s", error)
            time.sleep(PAUSE_SECONDS)


def announce_to_other_processes() -> None:
    """Only where there can be others: one process hears its own writer directly."""
    if not settings.EMBEDDED:
        listen_always(Announcer().committed)
