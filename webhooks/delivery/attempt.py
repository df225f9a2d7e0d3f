"""One attempt: look the receiver up, judge what was found, post, read a little.

Everything has a bound: fifteen seconds for all of it, 64 KiB of a reply. Redirects are
not followed, proxies not used, and nothing that arrives is trusted.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

import httpx

from webhooks.addresses import Address
from webhooks.signing import signed_headers
from webhooks.targets import Refused, Target, Unresolved, judged, read_url

TIME_LIMIT_S = 15.0
REPLY_LIMIT = 65_536
# What is kept of the reply is chosen later, when it has been cleaned.
KEPT = 8_192

Lookup = Callable[[str, int], Awaitable[Sequence[str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A leased delivery, with all that an attempt needs."""

    delivery_id: int
    endpoint_id: int
    lease: UUID
    attempt: int
    url: str
    webhook_id: str
    body: str
    secrets: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How it went. `error` says why it failed, in words that may be shown."""

    order: Order
    at: datetime
    duration_ms: int
    status: int | None = None
    error: str = ""
    retry_after: str = ""
    reply: str = ""

    @property
    def ok(self) -> bool:
        return not self.error


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    status: int | None = None
    error: str = ""
    retry_after: str = ""
    reply: bytes = b""


async def attempt(
    order: Order,
    *,
    client: httpx.AsyncClient,
    lookup: Lookup,
    time_limit_s: float = TIME_LIMIT_S,
) -> Outcome:
    """Never raises, whatever the receiver does."""
    at = datetime.now(UTC)
    began = time.monotonic()
    try:
        async with asyncio.timeout(time_limit_s):
            answer = await _send(order, at=at, client=client, lookup=lookup)
    except TimeoutError:
        answer = _Answer(error=f"no whole answer within {time_limit_s:g} s")
    except (Refused, Unresolved) as error:
        answer = _Answer(error=str(error))
    except httpx.HTTPError as error:
        answer = _Answer(error=_trouble(error))
    return Outcome(
        order=order,
        at=at,
        duration_ms=round((time.monotonic() - began) * 1000),
        status=answer.status,
        error=answer.error,
        retry_after=answer.retry_after,
        reply=answer.reply[:KEPT].decode("utf-8", "replace"),
    )


async def _send(
    order: Order, *, at: datetime, client: httpx.AsyncClient, lookup: Lookup
) -> _Answer:
    target = read_url(order.url)
    addresses = judged(target, await lookup(target.host, target.port))
    for address in addresses[:-1]:
        try:
            return await _post(order, target, address, at=at, client=client)
        except httpx.ConnectError:
            continue  # nothing was sent: the next address is as good
    return await _post(order, target, addresses[-1], at=at, client=client)


async def _post(
    order: Order,
    target: Target,
    address: Address,
    *,
    at: datetime,
    client: httpx.AsyncClient,
) -> _Answer:
    headers = {
        "host": target.authority,
        "content-type": "application/json",
        **signed_headers(
            webhook_id=order.webhook_id,
            at=at,
            body=order.body,
            secrets=order.secrets,
        ),
    }
    async with client.stream(
        "POST",
        target.at(address),
        content=order.body.encode(),
        headers=headers,
        # The certificate has to be the name's, not the number's.
        extensions={"sni_hostname": target.host},
    ) as response:
        return await _read(response)


async def _read(response: httpx.Response) -> _Answer:
    received = bytearray()
    whole = True
    async for chunk in response.aiter_raw():
        received += chunk
        if len(received) > REPLY_LIMIT:
            whole = False  # the rest is never received: the connection is closed
            break
    status = response.status_code
    error = ""
    if response.is_redirect or 300 <= status < 400:
        error = f"answered {status}: redirects are not followed"
    elif not 200 <= status < 300:
        error = f"answered {status}"
    elif not whole:
        error = f"the reply is longer than {REPLY_LIMIT:,} bytes"
    return _Answer(
        status=status,
        error=error,
        retry_after=response.headers.get("retry-after", ""),
        reply=bytes(received[:KEPT]),
    )


def _trouble(error: httpx.HTTPError) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"its certificate is refused: {cause.verify_message}"
        if isinstance(cause, ssl.SSLError):
            return "no secure connection could be made"
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        return "no connection could be made"
    if isinstance(error, httpx.TransportError):
        return "the connection broke before the answer was whole"
    return type(error).__name__
