"""One attempt to deliver: resolve the host, check its addresses, post, read the reply.

An attempt takes at most fifteen seconds and reads at most 64 KiB. It follows no redirect,
uses no proxy and trusts nothing in the reply.
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
from webhooks.signing import build_signed_headers
from webhooks.targets import Refused, Target, Unresolved, check_addresses, parse_url

TIME_LIMIT_S = 15.0
REPLY_LIMIT = 65_536
# Cut again when it is stored, after secrets in it were redacted.
REPLY_KEPT = 8_192

Lookup = Callable[[str, int], Awaitable[Sequence[str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeasedDelivery:
    """A delivery that this worker may send, with all that an attempt needs."""

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
    """The result of an attempt. `error` says why it failed, in words that may be shown."""

    delivery: LeasedDelivery
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
class _Reply:
    status: int | None = None
    error: str = ""
    retry_after: str = ""
    reply: bytes = b""


async def attempt_delivery(
    delivery: LeasedDelivery,
    *,
    client: httpx.AsyncClient,
    lookup: Lookup,
    time_limit_s: float = TIME_LIMIT_S,
) -> Outcome:
    """Send a delivery once. Raises nothing, whatever the receiver does."""
    at = datetime.now(UTC)
    began = time.monotonic()
    try:
        async with asyncio.timeout(time_limit_s):
            reply = await _send(delivery, at=at, client=client, lookup=lookup)
    except TimeoutError:
        reply = _Reply(error=f"no complete answer within {time_limit_s:g} s")
    except (Refused, Unresolved) as error:
        reply = _Reply(error=str(error))
    except httpx.HTTPError as error:
        reply = _Reply(error=_describe_error(error))
    return Outcome(
        delivery=delivery,
        at=at,
        duration_ms=round((time.monotonic() - began) * 1000),
        status=reply.status,
        error=reply.error,
        retry_after=reply.retry_after,
        reply=reply.reply[:REPLY_KEPT].decode("utf-8", "replace"),
    )


async def _send(
    delivery: LeasedDelivery, *, at: datetime, client: httpx.AsyncClient, lookup: Lookup
) -> _Reply:
    target = parse_url(delivery.url)
    addresses = check_addresses(target, await lookup(target.host, target.port))
    for address in addresses[:-1]:
        try:
            return await _post(delivery, target, address, at=at, client=client)
        except httpx.ConnectError:
            continue  # nothing was sent yet: try the next address
    return await _post(delivery, target, addresses[-1], at=at, client=client)


async def _post(
    delivery: LeasedDelivery,
    target: Target,
    address: Address,
    *,
    at: datetime,
    client: httpx.AsyncClient,
) -> _Reply:
    headers = {
        "host": target.authority,
        "content-type": "application/json",
        **build_signed_headers(
            webhook_id=delivery.webhook_id,
            at=at,
            body=delivery.body,
            secrets=delivery.secrets,
        ),
    }
    async with client.stream(
        "POST",
        target.build_url(address),
        content=delivery.body.encode(),
        headers=headers,
        # The certificate must be for the host's name, not for its address.
        extensions={"sni_hostname": target.host},
    ) as response:
        return await _read_reply(response)


async def _read_reply(response: httpx.Response) -> _Reply:
    received = bytearray()
    complete = True
    async for chunk in response.aiter_raw():
        received += chunk
        if len(received) > REPLY_LIMIT:
            complete = False  # the rest is not read: the connection is closed
            break
    status = response.status_code
    error = ""
    if response.is_redirect or 300 <= status < 400:
        error = f"answered {status}: redirects are not followed"
    elif not 200 <= status < 300:
        error = f"answered {status}"
    elif not complete:
        error = f"the reply is longer than {REPLY_LIMIT:,} bytes"
    return _Reply(
        status=status,
        error=error,
        retry_after=response.headers.get("retry-after", ""),
        reply=bytes(received[:REPLY_KEPT]),
    )


def _describe_error(error: httpx.HTTPError) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"its certificate was refused: {cause.verify_message}"
        if isinstance(cause, ssl.SSLError):
            return "no secure connection could be made"
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        return "no connection could be made"
    if isinstance(error, httpx.TransportError):
        return "the connection broke before the answer was complete"
    return type(error).__name__
