"""Sends side by side: an event loop in a thread of its own, fed with orders.

Each endpoint has its own connections: what was opened for one name must never carry
what is meant for another that happens to share its address.
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

from webhooks.delivery.attempt import TIME_LIMIT_S, Order, Outcome, attempt
from webhooks.targets import Resolver, resolve

# How much is taken at a time: in all, for an endpoint, for one that fails. A failing one
# is asked now and then, and must not take the places of the others.
TAKEN = 1_024
TAKEN_EACH = 64
TAKEN_FAILING = 2
# Of these, how many are sent at once to one endpoint.
AT_ONCE_EACH = 16
LOOKUPS = 128
HEADERS = {
    "accept-encoding": "identity",
    "user-agent": "Checkrail-Webhooks/1",
}

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Line:
    """The way to one endpoint."""

    client: httpx.AsyncClient
    places: asyncio.Semaphore


class Sender:
    """Use as a context. Orders go in by `send`, outcomes come out by `outcomes`."""

    def __init__(
        self,
        *,
        resolver: Resolver = resolve,
        certificates: SSLContext | None = None,
        time_limit_s: float = TIME_LIMIT_S,
    ) -> None:
        self._resolver = resolver
        self._certificates = certificates or _certificates()
        self._time_limit_s = time_limit_s
        self._done: SimpleQueue[Outcome] = SimpleQueue()
        self._loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="webhooks", daemon=True
        )
        # A name server that does not answer holds its thread; there is one for each.
        self._lookups = ThreadPoolExecutor(LOOKUPS, thread_name_prefix="webhook-lookup")
        self._lines: dict[int, _Line] = {}
        self._under_way: dict[int, Order] = {}
        self._each: Counter[int] = Counter()

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
    def under_way(self) -> list[Order]:
        return list(self._under_way.values())

    @property
    def free(self) -> int:
        return TAKEN - len(self._under_way)

    def room(self, endpoint_id: int, *, failing: bool) -> int:
        most = TAKEN_FAILING if failing else TAKEN_EACH
        return min(self.free, most - self._each[endpoint_id])

    def send(self, order: Order) -> None:
        self._under_way[order.delivery_id] = order
        self._each[order.endpoint_id] += 1
        asyncio.run_coroutine_threadsafe(self._attempt(order), self._loop)

    def outcomes(self, *, within: float, gather: float) -> list[Outcome]:
        """None, if none comes in this time; else also those that come right after."""
        found = []
        try:
            found.append(self._done.get(timeout=within))
            ends = time.monotonic() + gather
            while len(found) < len(self._under_way):
                left = max(0.0, ends - time.monotonic())
                found.append(self._done.get(timeout=left))
        except Empty:
            pass
        for outcome in found:
            del self._under_way[outcome.order.delivery_id]
            self._each[outcome.order.endpoint_id] -= 1
        return found

    async def _attempt(self, order: Order) -> None:
        line = self._line(order.endpoint_id)
        async with line.places:
            outcome = await self._outcome(order, line.client)
        self._done.put(outcome)

    async def _outcome(self, order: Order, client: httpx.AsyncClient) -> Outcome:
        try:
            return await attempt(
                order,
                client=client,
                lookup=self._lookup,
                time_limit_s=self._time_limit_s,
            )
        except Exception as error:
            # A fault of ours; the delivery fails like any other and is tried again.
            logger.exception("An attempt to deliver a webhook broke")
            return Outcome(
                order=order,
                at=datetime.now(UTC),
                duration_ms=0,
                error=f"not sent: {type(error).__name__}",
            )

    async def _lookup(self, host: str, port: int) -> Sequence[str]:
        return await self._loop.run_in_executor(
            self._lookups, self._resolver, host, port
        )

    def _line(self, endpoint_id: int) -> _Line:
        line = self._lines.get(endpoint_id)
        if line is None:
            client = httpx.AsyncClient(
                headers=HEADERS,
                cookies=_no_cookies(),
                verify=self._certificates,
                follow_redirects=False,
                # Neither a proxy nor a .netrc comes between us and the receiver.
                trust_env=False,
                timeout=self._time_limit_s,
                limits=httpx.Limits(max_keepalive_connections=AT_ONCE_EACH),
            )
            places = asyncio.Semaphore(AT_ONCE_EACH)
            line = self._lines[endpoint_id] = _Line(client, places)
        return line

    async def _close(self) -> None:
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)
        for line in self._lines.values():
            await line.client.aclose()


def _no_cookies() -> CookieJar:
    """A receiver would fill one for ever, and have it sent back with each delivery."""
    return CookieJar(DefaultCookiePolicy(allowed_domains=()))


@lru_cache(maxsize=1)
def _certificates() -> SSLContext:
    """Read once; SSL_CERT_FILE names them, or else they are httpx's own."""
    return httpx.create_ssl_context()
