"""Sockets answer only pages of our own origin: scheme, host and port, exactly."""

from __future__ import annotations

from django.conf import settings
from django.http.request import validate_host

from config.fastpath.asgi import App, Receive, Scope, Send, get_header


class SameOrigin:
    def __init__(self, inner: App) -> None:
        self.inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if _is_ours(scope):
            await self.inner(scope, receive, send)
            return
        await receive()  # websocket.connect
        # Closed before it is accepted: the browser sees 403.
        await send({"type": "websocket.close", "code": 4403})


def _is_ours(scope: Scope) -> bool:
    origin = get_header(scope, b"origin")
    if origin is None:
        return False
    if settings.ORIGINS:
        return origin in settings.ORIGINS
    host = get_header(scope, b"host") or ""
    name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
    if not validate_host(name, settings.ALLOWED_HOSTS):
        return False
    scheme = "https" if scope.get("scheme") == "wss" else "http"
    return origin == f"{scheme}://{host}"
