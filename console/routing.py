"""Addresses of the console's sockets."""

from __future__ import annotations

from typing import Any

from django.urls import path, re_path

from console.live.consumers import ConsoleConsumer, NowhereConsumer

# Channels routes ASGI applications with Django's path(), whose types know views only.
_console: Any = ConsoleConsumer.as_asgi()
_nowhere: Any = NowhereConsumer.as_asgi()

websocket_urlpatterns = [
    path("ws/p/<slug:slug>/queue/", _console, {"view": "queue"}),
    path("ws/p/<slug:slug>/runs/", _console, {"view": "runs"}),
    path("ws/p/<slug:slug>/runs/<uuid:code>/", _console, {"view": "run"}),
    path("ws/p/<slug:slug>/permissions/", _console, {"view": "permissions"}),
    path("ws/p/<slug:slug>/gates/", _console, {"view": "gates"}),
    path("ws/p/<slug:slug>/ledger/", _console, {"view": "ledger"}),
    path("ws/p/<slug:slug>/shadow/", _console, {"view": "shadow"}),
    path("ws/p/<slug:slug>/loop/", _console, {"view": "loop"}),
    path("ws/p/<slug:slug>/webhooks/", _console, {"view": "webhooks"}),
    path("ws/p/<slug:slug>/halts/", _console, {"view": "halts"}),
    path("ws/p/<slug:slug>/settings/", _console, {"view": "settings"}),
    re_path("", _nowhere),
]
