"""The addresses of this server, as its settings and its listener say."""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import urlsplit

from django.conf import settings

from guidance.core.shell_commands.own_server import OwnServer

_PORTS = {"http": 80, "https": 443}


def get_own_server() -> OwnServer:
    return _read(settings.SERVED_PORT, settings.PUBLIC_URL)


def note_connection(server: tuple[str, int | None] | None) -> None:
    """Take the port from where a connection came in, whatever started this process.
    A socket of the file system has none."""
    if server is not None and server[1] and server[1] != settings.SERVED_PORT:
        note_listener(server[0], server[1])


def note_listener(host: str, port: int) -> None:
    settings.SERVED_PORT = port
    if not settings.ORIGINS:
        shown = f"[{host}]" if ":" in host else host
        settings.PUBLIC_URL = f"http://{shown}:{port}"


@lru_cache(maxsize=16)
def _read(port: int, address: str) -> OwnServer:
    public = urlsplit(address)
    host = public.hostname or ""
    public_port = public.port or _PORTS.get(public.scheme, 0)
    if public_port == port and host in ("127.0.0.1", "localhost", "::1"):
        return OwnServer(port)
    return OwnServer(port, host, public_port)
