"""Reading a request's body: how much of it, in which form, and by which parser."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.conf import settings

from common.errors import RequestTimeout, TooLarge, UnsupportedMedia
from common.long_work import run_long
from config.fastpath import lenient_json, strict_json
from config.fastpath.asgi import ARRIVED, Message, Receive, Scope, get_header
from config.fastpath.outcomes import ClientGone

# What a caller who is not signed in may send: a sign-in form fits.
STRANGER_LIMIT = 8_192
# Longer bodies are parsed in a thread, so that the event loop goes on.
LONG = 64_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyRules:
    """What a route takes. `parse` gets the raw bytes; None leaves them to the answer."""

    limit: int = strict_json.BODY_LIMIT
    parse: Callable[[bytes], Any] | None = strict_json.parse
    media_types: frozenset[str] = frozenset({"application/json"})
    charsets: frozenset[str] | None = frozenset({"", "utf-8"})
    wrong_media: str = "Send Content-Type: application/json in UTF-8."
    encodings: frozenset[str] = frozenset({"", "identity"})
    wrong_encoding: str = "Send the body uncompressed."


JSON = BodyRules()
# The result of a coding agent's tool can have any size and form, and is never judged.
TOOL_RESULT = BodyRules(limit=lenient_json.BODY_LIMIT, parse=lenient_json.parse)
# OpenTelemetry exporters choose between two forms; the operation reads them itself.
SPANS = BodyRules(
    parse=None,
    media_types=frozenset({"application/x-protobuf", "application/json"}),
    charsets=None,
    wrong_media="Send application/x-protobuf or application/json.",
    encodings=frozenset({"", "identity", "gzip"}),
    wrong_encoding="Send the body uncompressed, or with gzip.",
)


def check_form(scope: Scope, rules: BodyRules, *, limit: int) -> None:
    """Refuse by the headers alone what need not be read."""
    length = check_length(scope, limit=limit)
    encoding = (get_header(scope, b"content-encoding") or "").strip().lower()
    if encoding not in rules.encodings:
        raise UnsupportedMedia(rules.wrong_encoding)
    has_body = (length is not None and int(length) > 0) or (
        get_header(scope, b"transfer-encoding") is not None
    )
    if has_body and not _is_taken(get_header(scope, b"content-type") or "", rules):
        raise UnsupportedMedia(rules.wrong_media)


@lru_cache(maxsize=64)
def _is_taken(content_type: str, rules: BodyRules) -> bool:
    media, _, rest = content_type.partition(";")
    charset = rest.strip().lower().replace('"', "").removeprefix("charset=")
    return media.strip().lower() in rules.media_types and (
        rules.charsets is None or charset in rules.charsets
    )


def check_length(scope: Scope, *, limit: int) -> str | None:
    length = get_header(scope, b"content-length")
    if length is not None and (not length.isdigit() or int(length) > limit):
        raise _build_too_large(limit)
    return length


async def read_body(scope: Scope, receive: Receive, *, limit: int) -> bytes:
    if ARRIVED in scope:
        return await _read_chunks(receive, limit)
    try:
        async with asyncio.timeout(settings.BODY_TIMEOUT_S):
            return await _read_chunks(receive, limit)
    except TimeoutError:
        raise RequestTimeout(
            f"The body did not arrive within {settings.BODY_TIMEOUT_S} seconds."
        ) from None


async def _read_chunks(receive: Receive, limit: int) -> bytes:
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > limit:
            raise _build_too_large(limit)
        chunks.append(chunk)
        if not message.get("more_body", False):
            return b"".join(chunks)


def _build_too_large(limit: int) -> TooLarge:
    whom = " from whoever is not signed in" if limit == STRANGER_LIMIT else ""
    return TooLarge(f"At most {limit:,} bytes are taken{whom}.")


def replay_body(raw: bytes, receive: Receive) -> Receive:
    """Hand the body on once; afterwards only a hang-up can come."""
    sent = False

    async def replay() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": raw, "more_body": False}

    return replay


async def parse_body(raw: bytes, rules: BodyRules) -> Any:
    if not raw or rules.parse is None:
        return None
    if len(raw) < LONG:
        return rules.parse(raw)
    return await run_long(rules.parse, raw)
