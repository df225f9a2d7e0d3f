"""The door of /api/, before Django: who asks, how much, in what form.

Credentials are judged on the headers alone, so a stranger's body is never read. A body
is read once, up to its cap, and parsed by the strict reader; what comes after finds the
principal and the document in the scope.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable
from functools import partial
from typing import Any

from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.http import parse_cookie

from accounts.api_auth import SEEN, Seen
from accounts.auth import (
    Principal,
    bearer_secret,
    is_signed_in,
    principal_for_secret,
    remembered_principal,
)
from common.errors import (
    DomainError,
    RequestTimeout,
    TooLarge,
    Unauthenticated,
    Unavailable,
    UnsupportedMedia,
)
from config.fastpath import lenient_json, strict_json
from config.fastpath.asgi import (
    App,
    Message,
    Receive,
    Scope,
    Send,
    header,
    headers_named,
    send_problem,
)
from config.fastpath.headers import check_head
from config.fastpath.in_flight import InFlight
from config.fastpath.key_rate import KeyRate
from config.server.http_protocol import OVER_LIMIT
from ledger.writer.db_threads import run_in_db_thread

# Read by anyone: what the API is, and whether it is up.
OPEN_PATHS = frozenset(
    {
        "/api/v1/openapi.json",
        "/api/v1/docs",
        "/api/v1/healthz",
        "/api/v1/readyz",
    }
)
BODILESS = frozenset({"GET", "HEAD", "OPTIONS"})
# What came of a coding agent's tool: of any size and form, and never judged.
_RESULTS = re.compile(r"^/api/v1/hooks/[^/]+/PostToolUse(Failure)?$")
_LONG = 200_000
# Exporters of OpenTelemetry send their own forms here; the door itself reads them.
_SPANS = "/api/v1/otlp/v1/traces"
_SPAN_MEDIA = frozenset({"application/x-protobuf", "application/json"})
_PLAIN = frozenset({"", "identity"})

logger = logging.getLogger(__name__)


class ClientGone(Exception):
    """The caller hung up in the middle of its body."""


class ApiGuard:
    def __init__(self, inner: App) -> None:
        self.inner = inner
        self.key_rate = KeyRate(per_second=settings.KEY_RATE)
        self.in_flight = InFlight()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.inner(scope, receive, send)
            return
        if scope.get(OVER_LIMIT):
            await send_problem(send, Unavailable("There are too many connections."))
            return
        if not scope["path"].startswith("/api/"):
            await self._page(scope, receive, send)
            return
        bodiless = scope["method"] in BODILESS
        raw = b""
        limit, parse = _reader(scope)
        try:
            check_head(scope)
            principal = await _principal(scope)
            if principal is not None:
                self.key_rate.check(principal)
            if not bodiless:
                limit = await _limit_for(scope, principal, limit)
                _check_form(scope, limit)
                raw = await _read(receive, limit)
                receive = _replay(raw, receive)
        except ClientGone:
            return
        except DomainError as error:
            await send_problem(send, error)
            return
        async with self.in_flight.wait_for_turn(scope, principal):
            try:
                document = await _parsed(parse, raw) if raw else None
            except DomainError as error:
                await send_problem(send, error)
                return
            scope[SEEN] = Seen(principal=principal, raw=raw, document=document)
            await self.inner(scope, receive, send)

    async def _page(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The console's forms are small; nobody fills our disk through them."""
        if scope["method"] not in BODILESS:
            try:
                limit = await _limit_for(scope, None, _LIMIT)
                _check_length(scope, limit)
                receive = _replay(await _read(receive, limit), receive)
            except ClientGone:
                return
            except DomainError as error:
                await send_problem(send, error)
                return
        await self.inner(scope, receive, send)


async def _principal(scope: Scope) -> Principal | None:
    """The bearer's; None leaves it to the session cookie, if there is one."""
    credentials = headers_named(scope, b"authorization")
    if len(credentials) > 1:
        raise Unauthenticated("Send one Authorization header.")
    secret = bearer_secret(credentials[0]) if credentials else None
    if secret is not None:
        known = remembered_principal(secret)
        if known is not None:
            return known
        try:
            return await run_in_db_thread(partial(principal_for_secret, secret))
        except (DatabaseError, InterfaceError):
            logger.exception("A key could not be looked up")
            raise Unavailable("The database does not answer.") from None
    if scope["path"] in OPEN_PATHS or header(scope, b"cookie") is not None:
        return None
    raise Unauthenticated


def _reader(scope: Scope) -> tuple[int, Callable[[bytes], Any]]:
    """How much is read at this address, and by whom."""
    if _RESULTS.match(scope["path"]):
        return lenient_json.BODY_LIMIT, lenient_json.parse
    if scope["path"] == _SPANS:
        return _LIMIT, _left_alone
    return _LIMIT, strict_json.parse


async def _limit_for(scope: Scope, principal: Principal | None, limit: int) -> int:
    """A stranger sends no more than a sign-in takes; a longer body takes a session."""
    length = header(scope, b"content-length") or ""
    if principal is not None:
        return limit
    if length.isdigit() and int(length) <= STRANGER_LIMIT:
        return STRANGER_LIMIT
    cookies = parse_cookie(header(scope, b"cookie") or "")
    session = cookies.get(settings.SESSION_COOKIE_NAME)
    if session is None:
        return STRANGER_LIMIT
    try:
        signed_in = await run_in_db_thread(partial(is_signed_in, session))
    except (DatabaseError, InterfaceError):
        logger.exception("A session could not be looked up")
        raise Unavailable("The database does not answer.") from None
    return limit if signed_in else STRANGER_LIMIT


def _left_alone(raw: bytes) -> None:
    """Compressed, or no JSON at all: not ours to parse."""


async def _parsed(parse: Callable[[bytes], Any], raw: bytes) -> Any:
    """Beside the event loop where it is long."""
    return parse(raw) if len(raw) < _LONG else await asyncio.to_thread(parse, raw)


def _check_length(scope: Scope, limit: int) -> str | None:
    length = header(scope, b"content-length")
    if length is not None and (not length.isdigit() or int(length) > limit):
        raise _too_large(limit)
    return length


def _check_form(scope: Scope, limit: int) -> None:
    length = _check_length(scope, limit)
    spans = scope["path"] == _SPANS
    encoding = (header(scope, b"content-encoding") or "").strip().lower()
    if encoding not in _PLAIN and not (spans and encoding == "gzip"):
        with_gzip = ", or with gzip" if spans else ""
        raise UnsupportedMedia(f"Send the body uncompressed{with_gzip}.")
    has_body = (length is not None and int(length) > 0) or (
        header(scope, b"transfer-encoding") is not None
    )
    if not has_body:
        return
    media, _, rest = (header(scope, b"content-type") or "").partition(";")
    charset = rest.strip().lower().replace('"', "").removeprefix("charset=")
    if spans:
        if media.strip().lower() in _SPAN_MEDIA:
            return
        raise UnsupportedMedia("Send application/x-protobuf or application/json.")
    if media.strip().lower() != "application/json" or charset not in {"", "utf-8"}:
        raise UnsupportedMedia("Send Content-Type: application/json in UTF-8.")


_LIMIT = strict_json.BODY_LIMIT
STRANGER_LIMIT = 8_192


def _too_large(limit: int) -> TooLarge:
    whom = " from whoever is not signed in" if limit == STRANGER_LIMIT else ""
    return TooLarge(f"At most {limit:,} bytes are taken{whom}.")


async def _read(receive: Receive, limit: int) -> bytes:
    try:
        async with asyncio.timeout(settings.BODY_TIMEOUT_S):
            return await _read_whole(receive, limit)
    except TimeoutError:
        raise RequestTimeout(
            f"The body did not arrive within {settings.BODY_TIMEOUT_S} seconds."
        ) from None


async def _read_whole(receive: Receive, limit: int) -> bytes:
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > limit:
            raise _too_large(limit)
        chunks.append(chunk)
        if not message.get("more_body", False):
            return b"".join(chunks)


def _replay(raw: bytes, receive: Receive) -> Receive:
    """Hand the body on once; afterwards only a hang-up can come."""
    sent = False

    async def replayed() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": raw, "more_body": False}

    return replayed
