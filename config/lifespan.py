"""What a web process does before its first request and after its last."""

from __future__ import annotations

import gc
import logging
import sys

from asgiref.sync import sync_to_async
from django.conf import settings

from config.exclusive import hold_database_file
from config.front.wire import Receive, Scope, Send
from config.safety import refuse_unsafe
from ledger.hub import close_hub, hub
from ledger.reading import read
from ledger.writer import close_writer
from reviews.live import here

logger = logging.getLogger(__name__)


async def lifespan(_scope: Scope, receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            try:
                await _start()
            except Exception as error:
                await send({"type": "lifespan.startup.failed", "message": str(error)})
                return
            await send({"type": "lifespan.startup.complete"})
        elif message["type"] == "lifespan.shutdown":
            await _stop()
            await send({"type": "lifespan.shutdown.complete"})
            return


async def _start() -> None:
    if settings.EMBEDDED:
        hold_database_file()
    await read(refuse_unsafe)
    # The writer's thread and the event loop hand work to each other all the time;
    # the default of 5 ms between switches would be felt in every answer.
    sys.setswitchinterval(0.001)
    hub()
    here().start()
    # What is loaded now stays: the collector need not look at it again.
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


async def _stop() -> None:
    await here().stop()
    await close_hub()
    await sync_to_async(close_writer)()
