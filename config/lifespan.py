"""What a web process does before its first request and after its last."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import sys
import threading
from types import FrameType
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings

from config.checks import refuse_unsafe
from config.database.file_lock import hold_database_file
from config.fastpath.asgi import Receive, Scope, Send
from config.server.one_cpu import keep_on_one_cpu, may_keep_on_one_cpu
from console.live.broadcaster import get_broadcaster
from console.live.presence import get_presence
from guidance.core.secrets import warm_up
from ledger.waiting.hub import close_hub, get_hub
from ledger.writer import close_writer
from ledger.writer.db_threads import run_in_db_thread
from reviews.policies.shadow.running import get_shadow_refresher

logger = logging.getLogger(__name__)


async def run_lifespan(_scope: Scope, receive: Receive, send: Send) -> None:
    together: asyncio.Task[None] | None = None
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            try:
                await _start()
            except Exception as error:
                await send({"type": "lifespan.startup.failed", "message": str(error)})
                return
            if may_keep_on_one_cpu():
                together = asyncio.create_task(keep_on_one_cpu())
            await send({"type": "lifespan.startup.complete"})
        elif message["type"] == "lifespan.shutdown":
            if together is not None:
                together.cancel()
            await _stop()
            await send({"type": "lifespan.shutdown.complete"})
            return


async def _start() -> None:
    if settings.EMBEDDED:
        hold_database_file()
    await run_in_db_thread(refuse_unsafe)
    # The writer's thread and the event loop hand work to each other all the time;
    # the default of 5 ms between switches would be felt in every answer.
    sys.setswitchinterval(0.001)
    _release_waiters_on(signal.SIGTERM, signal.SIGINT)
    await asyncio.to_thread(warm_up)
    get_broadcaster().start()
    await get_shadow_refresher().start()
    settle_collector()


def settle_collector() -> None:
    """What is loaded now stays: the collector need not look at it again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def _release_waiters_on(*signals: signal.Signals) -> None:
    """Answer parked requests as soon as the server is told to stop.

    The server drains its requests before it ends our lifespan, so without this it would
    wait for agents that wait for a person.
    """
    if threading.current_thread() is not threading.main_thread():
        return  # only the main thread may set handlers, and only it gets signals
    loop, waiting = asyncio.get_running_loop(), get_hub()
    for number in signals:
        before = signal.getsignal(number)

        def handle(number: int, frame: FrameType | None, before: Any = before) -> None:
            loop.call_soon_threadsafe(waiting.release)
            if callable(before):
                before(number, frame)

        signal.signal(number, handle)


async def _stop() -> None:
    await get_broadcaster().stop()
    await get_presence().stop()
    await get_shadow_refresher().stop()
    await close_hub()
    await sync_to_async(close_writer)()
