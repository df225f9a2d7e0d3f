"""Our application, to be served a second time in the process of the tests."""

from __future__ import annotations

from typing import Any

from django.test.utils import override_settings

from config.asgi import build_fast_path
from config.fastpath.asgi import App, Receive, Scope, Send
from config.server.unread import DiscardUnread
from ledger.waiting.hub import close_hub


def build_application(**overrides: Any) -> App:
    """Our HTTP application under other settings; it leaves the writer alone."""
    with override_settings(**overrides):
        return add_lifespan(DiscardUnread(build_fast_path()))


def add_lifespan(http: App) -> App:
    """The application with a lifespan that closes no more than the hub."""

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await http(scope, receive, send)
            return
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await close_hub()
        await send({"type": "lifespan.shutdown.complete"})

    return application
