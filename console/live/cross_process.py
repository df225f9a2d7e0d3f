"""Tell the other processes that a project changed, through the channel layer.

Content-free and coalesced: many commits become one message. It runs on a thread of its
own, so that a Redis that is slow or gone never holds up a commit; whoever misses a
nudge finds the change at the next re-check.
"""

from __future__ import annotations

import asyncio
import logging

from channels.layers import get_channel_layer
from django.conf import settings

from ledger.waiting.coalescing import CoalescingSender
from ledger.writer import Committed, listen_always

GROUP = "console"
PAUSE_SECONDS = 0.05

logger = logging.getLogger(__name__)


class Announcer:
    def __init__(self) -> None:
        # One event loop for all messages: the channel layer keeps its connection there.
        self._runner = asyncio.Runner()
        self._sender = CoalescingSender("nudges", self._send, after_s=PAUSE_SECONDS)

    def on_commit(self, commit: Committed) -> None:
        self._sender.add(commit.projects)

    def _send(self, projects: list[int]) -> None:
        layer = get_channel_layer()
        assert layer is not None
        message = {"type": "nudge", "projects": projects}
        try:
            self._runner.run(layer.group_send(GROUP, message))
        except Exception as error:
            logger.warning("A nudge could not be sent: %s", error)


def announce_to_other_processes() -> None:
    """Only where there can be others: one process hears its own writer directly."""
    if not settings.EMBEDDED:
        listen_always(Announcer().on_commit)
