"""The ASGI application: the fast path in front of Django, sockets beside it."""

from __future__ import annotations

import logging
import os
from functools import cache

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.core.asgi import get_asgi_application

django_application = get_asgi_application()

# Everything below needs the apps that the line above has loaded.
from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import URLRouter  # noqa: E402
from django.conf import settings  # noqa: E402

from config.fastpath.application import FastPath  # noqa: E402
from config.fastpath.asgi import (  # noqa: E402
    AT_ONCE,
    TIMED,
    App,
    Receive,
    Scope,
    Send,
)
from config.fastpath.at_once import AtOnce  # noqa: E402
from config.fastpath.origins import SameOrigin  # noqa: E402
from config.lifespan import run_lifespan  # noqa: E402
from config.server.answers import count_answers  # noqa: E402
from config.server.proxies import trust_proxies  # noqa: E402
from config.server.unread import DiscardUnread  # noqa: E402
from console.routing import websocket_urlpatterns  # noqa: E402
from guidance.own_server import note_connection  # noqa: E402


@cache
def _warn_untimed() -> None:
    """Once: whoever started this server has forgotten an option."""
    logging.getLogger(__name__).warning(
        "Requests have no deadlines and connections no limit: start uvicorn with "
        "--http config.server.http_protocol:TimedProtocol"
    )


def build_application(lifespan: App = run_lifespan) -> App:
    """The whole application, as the settings are at this moment."""
    django: App = django_application  # type: ignore[assignment]
    fast_path = FastPath(django, enabled=settings.FAST_PATH)
    http = DiscardUnread(fast_path)
    at_once = AtOnce(fast_path.guard) if settings.FAST_PATH else None
    # The stubs of channels know their own shapes of ASGI only.
    sockets = AuthMiddlewareStack(URLRouter(websocket_urlpatterns))
    websocket: App = SameOrigin(sockets)  # type: ignore[arg-type]

    async def route(scope: Scope, receive: Receive, send: Send) -> None:
        match scope["type"]:
            case "http":
                if TIMED not in scope:
                    _warn_untimed()
                    note_connection(scope.get("server"))
                await http(scope, receive, count_answers(send))
            case "websocket":
                await websocket(scope, receive, send)
            case "lifespan":
                # Our HTTP server finds it with each connection.
                scope.get("state", {})[AT_ONCE] = at_once
                await lifespan(scope, receive, send)
            case other:
                raise ValueError(f"Unknown kind of connection: {other}")

    return trust_proxies(route, settings.PROXIES)


application = build_application()
