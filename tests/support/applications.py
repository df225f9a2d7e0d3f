"""Our application, to be served a second time in the process of the tests."""

from __future__ import annotations

from typing import Any

from django.test.utils import override_settings

from config import asgi
from config.fastpath.asgi import App, Receive, Scope, Send
from ledger.waiting.hub import close_hub


def build_application(**overrides: Any) -> App:
    """The application that is served to all, under other settings."""
    with override_settings(**overrides):
        return asgi.build_application(run_lifespan)


async def run_lifespan(_scope: Scope, receive: Receive, send: Send) -> None:
    """Close no more than the hub: the writer and the rest are the whole process's."""
    await receive()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await close_hub()
    await send({"type": "lifespan.shutdown.complete"})
