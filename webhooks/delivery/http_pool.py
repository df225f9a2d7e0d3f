"""Concurrent attempts: an event loop in a thread of its own sends deliveries.

Each endpoint has its own connections: one opened for a host must never carry what is
meant for another host that shares its address.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from queue import Empty, SimpleQueue
from ssl import SSLContext
from types import TracebackType
from typing import Self

import httpx
import uvloop

from webhooks.delivery.attempt import (
    TIME_LIMIT_S,
    LeasedDelivery,
    Outcome,
    attempt_delivery,
)
from webhooks.targets import Resolver, resolve

# How many deliveries are leased at a time: in all, for an endpoint, for a failing one. A
# failing one must not take the slots of the others.
LEASED_LIMIT = 1_024
LEASED_PER_ENDPOINT = 64
LEASED_WHILE_FAILING = 2
# How many of these are sent to one endpoint at once.
CONCURRENT_PER_ENDPOINT = 16
LOOKUP_THREADS = 128
HEADERS = {
    "accept-encoding": "identity",
    "user-agent": "Checkrail-Webhooks/1",
}

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _EndpointClient:
    """The connections of one endpoint, and how many may be used at once."""

    client: httpx.AsyncClient
    slots: asyncio.Semaphore


class HttpPool:
    """A context manager: `send` takes deliveries, `collect_outcomes` returns results."""

    def __init__(
        self,
        *,
        resolver: Resolver = resolve,
        certificates: SSLContext | None = None,
        time_limit_s: float = TIME_LIMIT_S,
    ) -> None:
        self._resolver = resolver
        self._certificates = certificates or _load_certificates()
        self._time_limit_s = time_limit_s
        self._done: SimpleQueue[Outcome] = SimpleQueue()
        self._loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="webhooks", daemon=True
        )
        # A name server that does not answer blocks its thread, so there are many.
        self._lookups = ThreadPoolExecutor(
            LOOKUP_THREADS, thread_name_prefix="webhook-lookup"
        )
        self._clients: dict[int, _EndpointClient] = {}
        self._in_flight: dict[int, LeasedDelivery] = {}
        self._per_endpoint: Counter[int] = Counter()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._lookups.shutdown(wait=False, cancel_futures=True)

    @property
    def in_flight(self) -> list[LeasedDelivery]:
        return list(self._in_flight.values())

    @property
    def free(self) -> int:
        return LEASED_LIMIT - len(self._in_flight)

    def count_free(self, endpoint_id: int, *, failing: bool) -> int:
        most = LEASED_WHILE_FAILING if failing else LEASED_PER_ENDPOINT
        return min(self.free, most - self._per_endpoint[endpoint_id])

    def send(self, delivery: LeasedDelivery) -> None:
        self._in_flight[delivery.delivery_id] = delivery
        self._per_endpoint[delivery.endpoint_id] += 1
        asyncio.run_coroutine_threadsafe(self._attempt(delivery), self._loop)

    def collect_outcomes(self, *, within: float, gather: float) -> list[Outcome]:
        """Wait `within` seconds for an outcome, then `gather` seconds for more of them."""
        found = []
        try:
            found.append(self._done.get(timeout=within))
            ends = time.monotonic() + gather
            while len(found) < len(self._in_flight):
                left = max(0.0, ends - time.monotonic())
                found.append(self._done.get(timeout=left))
        except Empty:
            pass
        for outcome in found:
            del self._in_flight[outcome.delivery.delivery_id]
            self._per_endpoint[outcome.delivery.endpoint_id] -= 1
        return found

    async def _attempt(self, delivery: LeasedDelivery) -> None:
        endpoint = self._get_client(delivery.endpoint_id)
        async with endpoint.slots:
            outcome = await self._get_outcome(delivery, endpoint.client)
        self._done.put(outcome)

    async def _get_outcome(
        self, delivery: LeasedDelivery, client: httpx.AsyncClient
    ) -> Outcome:
        try:
            return await attempt_delivery(
                delivery,
                client=client,
                lookup=self._look_up,
                time_limit_s=self._time_limit_s,
            )
        except Exception as error:
            # An error in our code: the delivery fails like any other and is retried.
            logger.exception("An attempt to deliver a webhook failed unexpectedly")
            return Outcome(
                delivery=delivery,
                at=datetime.now(UTC),
                duration_ms=0,
                error=f"not sent: {type(error).__name__}",
            )

    async def _look_up(self, host: str, port: int) -> Sequence[str]:
        return await self._loop.run_in_executor(
            self._lookups, self._resolver, host, port
        )

    def _get_client(self, endpoint_id: int) -> _EndpointClient:
        endpoint = self._clients.get(endpoint_id)
        if endpoint is None:
            client = httpx.AsyncClient(
                headers=HEADERS,
                cookies=_build_empty_jar(),
                verify=self._certificates,
                follow_redirects=False,
                # No proxy and no .netrc of the environment is used.
                trust_env=False,
                timeout=self._time_limit_s,
                limits=httpx.Limits(max_keepalive_connections=CONCURRENT_PER_ENDPOINT),
            )
            slots = asyncio.Semaphore(CONCURRENT_PER_ENDPOINT)
            endpoint = self._clients[endpoint_id] = _EndpointClient(client, slots)
        return endpoint

    async def _close(self) -> None:
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)
        for endpoint in self._clients.values():
            await endpoint.client.aclose()


def _build_empty_jar() -> CookieJar:
    """Accepts no cookie, so that a receiver cannot have them sent with each delivery."""
    return CookieJar(DefaultCookiePolicy(allowed_domains=()))


@lru_cache(maxsize=1)
def _load_certificates() -> SSLContext:
    """Read once, from SSL_CERT_FILE or httpx's own."""
    return httpx.create_ssl_context()
