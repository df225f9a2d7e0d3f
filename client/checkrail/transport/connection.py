"""The address, the key, and how long to try an unreachable server."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from checkrail.errors import ConfigurationError

API = "/api/v1"
# For programs of people: a server that is restarted is back within this, also a slow one.
RETRY_SECONDS = 60.0
# Nothing of an agent is in a hurry: a database may fail over, a server may even be moved.
AGENT_SECONDS = 600.0
# How long the last requests of an agent that ends are tried.
ENDING_SECONDS = 5.0

Offline = Literal["raise", "wait"]


@dataclass(frozen=True)
class Outage:
    """The server does not answer; it is tried again in `retry_in` seconds."""

    url: str
    error: str
    tries: int
    seconds: float
    retry_in: float


@dataclass(frozen=True)
class Connection:
    base: str
    secret: str = field(repr=False)
    offline: Offline = "raise"
    offline_seconds: float | None = None
    retry_seconds: float = RETRY_SECONDS
    on_offline: Callable[[Outage], Any] | None = None
    connect_timeout: float = 5.0
    read_timeout: float = 30.0
    clock: Callable[[], float] = time.monotonic
    # Since when the server has been away, where that was said; told once for all requests.
    away_since: list[float] = field(default_factory=list, repr=False, compare=False)

    def get_patience(self, *, waiting: bool) -> float | None:
        """How many seconds without an answer to accept; None is without end.

        While a person is waited for there is no hurry: a long outage is accepted there,
        whatever `retry_seconds` says.
        """
        if self.offline == "wait":
            return self.offline_seconds
        if waiting:
            given = self.offline_seconds
            return AGENT_SECONDS if given is None else given
        return self.retry_seconds

    @property
    def ending_patience(self) -> float:
        """For the last requests of an agent: they must not delay its own error."""
        return min(self.retry_seconds, ENDING_SECONDS)


def build_connection(
    url: str | None, secret: str | None, *, name: str, **more: Any
) -> Connection:
    """Build it from the arguments, or from the environment."""
    url = (url or os.environ.get("CHECKRAIL_URL") or "").strip().rstrip("/")
    secret = (secret or os.environ.get(name) or "").strip()
    if not url:
        raise ConfigurationError(
            "No server is given. Set CHECKRAIL_URL, or pass url=, for example "
            "http://127.0.0.1:8000"
        )
    if not _is_address(url):
        raise ConfigurationError(f"{url!r} is no http:// or https:// address.")
    if not secret:
        raise ConfigurationError(f"No key is given. Set {name}, or pass it.")
    if not (secret.isascii() and secret.isprintable()):
        raise ConfigurationError(f"{name} contains characters that no key has.")
    if more.get("offline") not in (None, "raise", "wait"):
        raise ConfigurationError('offline is "raise" or "wait".')
    base = url if url.endswith(API) else url + API
    return Connection(base=base, secret=secret, **more)


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


@dataclass(frozen=True)
class StandIn:
    """Replaces the network, the clock and sleeping in a user's tests."""

    transport: Any
    async_transport: Any
    clock: Callable[[], float]
    sleep: Callable[[float], object]
    async_sleep: Callable[[float], Any]


STAND_IN_URL, STAND_IN_KEY = "http://checkrail.test", "crk_test"
# The last one counts: see `checkrail.testing`.
stand_ins: list[StandIn] = []
