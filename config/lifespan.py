"""What a web process does before its first request and after its last."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import sys

from asgiref.sync import sync_to_async
from django.conf import settings

from config.checks import refuse_unsafe
from config.database.file_lock import hold_database_file
from config.fastpath.asgi import Receive, Scope, Send
from config.health.bounded import OwnConnection
from config.health.draining import announce_stop_on
from config.health.watch import watch
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
    tasks: list[asyncio.Task[None]] = []
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            try:
                await _start()
            except Exception as error:
                await send({"type": "lifespan.startup.failed", "message": str(error)})
                return
            if may_keep_on_one_cpu():
                tasks.append(asyncio.create_task(keep_on_one_cpu()))
            tasks.append(asyncio.create_task(watch.run_forever()))
            await send({"type": "lifespan.startup.complete"})
        elif message["type"] == "lifespan.shutdown":
            for task in tasks:
                task.cancel()
            await _stop()
            await send({"type": "lifespan.shutdown.complete"})
            return


async def _start() -> None:
    if settings.EMBEDDED:
        hold_database_file()
    await run_in_db_thread(refuse_unsafe)
    # The event loop, the writer and the lane of long work hand each other work all the time;
    # the default of 5 ms between switches would be felt in every answer (bench flood).
    sys.setswitchinterval(0.0003)
    # The server drains its requests before it ends our lifespan: it would wait for agents
    # that wait for a person, unless they are answered before.
    announce_stop_on(signal.SIGTERM, signal.SIGINT, before_end=get_hub().release)
    await asyncio.to_thread(warm_up)
    get_broadcaster().start()
    await get_shadow_refresher().start()
    settle_collector()


def settle_collector() -> None:
    """What is loaded now stays: the collector need not look at it again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


async def _stop() -> None:
    await get_broadcaster().stop()
    await get_presence().stop()
    await get_shadow_refresher().stop()
    await close_hub()
    await sync_to_async(close_writer)()
    await asyncio.to_thread(OwnConnection.close_all)
