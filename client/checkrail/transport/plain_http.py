"""Requests and responses of HTTP/1.1 as bytes: as much of it as a wait needs."""

from __future__ import annotations

import http.client
import io
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import getproxies

from checkrail.transport.connection import Connection
from checkrail.transport.effects import Request
from checkrail.transport.responses import Response

_HEAD_END = b"\r\n\r\n"
_PORTS = {"http": 80, "https": 443}


class Address(NamedTuple):
    host: str
    port: int
    is_encrypted: bool
    # What the paths of requests follow, and the header that names the host.
    prefix: str
    name: str


def find_address(connection: Connection) -> Address | None:
    """Where the server is; None where the way there is httpx's matter: by a proxy, or by
    an address with anything unusual in it."""
    try:
        parts = urlsplit(connection.base)
        port = parts.port or _PORTS[parts.scheme]
        host = parts.hostname or ""
    except (ValueError, KeyError):
        return None
    proxies = getproxies()
    has_proxy = any(proxies.get(scheme) for scheme in ("http", "https", "all"))
    is_odd = "@" in parts.netloc or parts.query or parts.fragment or not host.isascii()
    if has_proxy or is_odd or not host or quote(parts.path) != parts.path:
        return None
    shown = f"[{host}]" if ":" in host else host
    if port != _PORTS[parts.scheme]:
        shown = f"{shown}:{port}"
    return Address(host, port, parts.scheme == "https", parts.path, shown)


def write_get(address: Address, request: Request, headers: Mapping[str, str]) -> bytes:
    """The bytes of a request without a body."""
    assert request.method == "GET"
    assert request.body is None
    target = address.prefix + request.path
    if request.params:
        target += "?" + urlencode(request.params)
    lines = [f"GET {target} HTTP/1.1", f"Host: {address.name}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("ascii")


class Received(NamedTuple):
    """A whole response; whether another one may follow it on the same connection."""

    response: Response
    keeps_open: bool


def read_response(data: bytes, *, closed: bool = False) -> Received | None:
    """None until it is whole; `closed` where no more will come. Raises ValueError for
    what is no HTTP."""
    head_end = data.find(_HEAD_END)
    if head_end < 0:
        if closed or not b"HTTP/1.".startswith(data[:7]):
            raise ValueError("This is no answer in HTTP/1.1.")
        return None
    if data.startswith((b"HTTP/1.1 1", b"HTTP/1.0 1")):  # the response is still to come
        rest = data[head_end + len(_HEAD_END) :]
        return read_response(rest, closed=closed) if rest or closed else None
    headers = _read_plain_headers(data[:head_end])
    if headers is None:
        return _read_unusual(data, closed=closed)
    body = data[head_end + len(_HEAD_END) :]
    missing = int(headers["content-length"]) - len(body)
    if missing > 0:
        if closed:
            raise ValueError("The connection was closed in the middle of an answer.")
        return None
    keeps_open = missing == 0 and "connection" not in headers
    whole = body[: len(body) + missing]
    return Received(Response(int(data[9:12]), headers, whole), keeps_open)


def _read_plain_headers(head: bytes) -> dict[str, str] | None:
    """By their names in small letters. None for a head that has to be read with care."""
    first, *lines = head.decode("latin-1").split("\r\n")
    headers: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        if " " in name or "\t" in name:
            return None
        headers[name.lower()] = value.strip(" \t")
    length = headers.get("content-length", "")
    plain = (
        first.startswith("HTTP/1.1 ")
        and first[9:12].isdigit()
        and first[12:13] in ("", " ")
        and first[9:12] not in ("204", "304")
        and len(headers) == len(lines)
        and length.isascii()
        and length.isdigit()
        and "transfer-encoding" not in headers
    )
    return headers if plain else None


def _read_unusual(data: bytes, *, closed: bool) -> Received | None:
    """In pieces, without a length, or after a response that is none yet. Read from the
    beginning each time: such answers are rare, and short."""
    # The library reads from sockets: this is one that has all of it.
    socket: Any = SimpleNamespace(makefile=lambda *_args, **_more: io.BytesIO(data))
    reader = http.client.HTTPResponse(socket, method="GET")
    try:
        reader.begin()
        was_chunked = bool(reader.chunked)
        body = reader.read()
    except (http.client.IncompleteRead, http.client.RemoteDisconnected):
        if closed:
            raise ValueError("The connection was closed in an answer.") from None
        return None
    except http.client.HTTPException as error:
        raise ValueError(f"This is no answer in HTTP/1.1: {error!r}") from None
    if was_chunked and not data.endswith(_HEAD_END):
        # The library takes half of a last line for all of it.
        if closed:
            raise ValueError("The connection was closed in an answer.")
        return None
    has_end = was_chunked or reader.headers.get("content-length") is not None
    if not (has_end or closed):
        return None  # whatever comes until the end belongs to it
    headers = {name.lower(): value for name, value in reader.headers.items()}
    return Received(Response(reader.status, headers, body), keeps_open=False)
