"""Replies as the bytes that uvicorn would write for them, in one piece (bench steps)."""

from __future__ import annotations

from collections.abc import Sequence

from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from common.responses import Reply

Headers = Sequence[tuple[bytes, bytes]]

_TYPE = b"content-type: application/json; charset=utf-8\r\ncontent-length: "
_REST = b"\r\ncache-control: no-store\r\nx-content-type-options: nosniff\r\n"
_CLOSE = b"connection: close\r\n"


class _Written:
    """The headers of every answer as they were written last: they change once a second."""

    headers: Headers = ()
    data = b""


def write_reply(reply: Reply, *, headers: Headers, keep_alive: bool) -> bytes:
    """For a reply that has no headers of its own; `headers` are those of every answer."""
    if _Written.headers is not headers:
        _Written.data = b"".join(b"%b: %b\r\n" % header for header in headers)
        _Written.headers = headers
    body = reply.body.encode()
    return b"".join(
        (
            STATUS_LINE[reply.status],
            _Written.data,
            _TYPE,
            str(len(body)).encode(),
            _REST,
            b"\r\n" if keep_alive else _CLOSE + b"\r\n",
            body,
        )
    )
