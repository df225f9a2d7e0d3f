"""The time between being asked to stop and stopping.

A proxy learns from `/readyz` that this process is about to go, and sends its requests
elsewhere; those that it still sends here are answered.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import Callable
from datetime import datetime
from functools import partial
from types import FrameType
from typing import Any

from django.conf import settings
from django.utils import timezone

logger = logging.getLogger(__name__)
_stop_time: datetime | None = None


def get_stop_time() -> datetime | None:
    """When this process was asked to stop, if it was."""
    return _stop_time


def announce_stop_on(*signals: signal.Signals, before_end: Callable[[], None]) -> None:
    """From the first signal on, the process says that it is stopping. After
    CHECKRAIL_DRAIN_S, or with the second signal, `before_end` is called on the event loop,
    and the server's own handler is."""
    if threading.current_thread() is not threading.main_thread():
        return  # only the main thread may set handlers, and only it gets signals
    loop, ended = asyncio.get_running_loop(), threading.Event()
    for number in signals:
        servers = signal.getsignal(number)

        def handle(
            number: int, frame: FrameType | None, servers: Any = servers
        ) -> None:
            again = _stop_time is not None

            def end() -> None:
                if ended.is_set() and not again:
                    return  # the second signal has done it
                ended.set()
                before_end()
                if callable(servers):
                    servers(number, frame)

            _note_stop()
            wait: int = 0 if again else settings.DRAIN_S
            loop.call_soon_threadsafe(partial(loop.call_later, wait, end))

        signal.signal(number, handle)


def _note_stop() -> None:
    global _stop_time
    _stop_time = _stop_time or timezone.now()
