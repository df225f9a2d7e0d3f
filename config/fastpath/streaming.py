"""Answers that are sent piece by piece, as long as the caller listens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass

from config.fastpath.asgi import Receive, Send
from config.fastpath.outcomes import wait_for_hang_up


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    media_type: str
    headers: Mapping[str, str]
    pieces: AsyncGenerator[str]


async def send_stream(send: Send, receive: Receive, stream: Stream) -> None:
    """Send to the end of the stream, or until the caller hangs up."""
    sending = asyncio.ensure_future(_send_pieces(send, stream))
    gone = asyncio.ensure_future(wait_for_hang_up(receive))
    try:
        await asyncio.wait({sending, gone}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        gone.cancel()
        sending.cancel()
    # To its very end: what it holds is released before the connection is.
    await asyncio.wait({sending})
    if not sending.cancelled():
        sending.result()


async def _send_pieces(send: Send, stream: Stream) -> None:
    headers = {"Content-Type": stream.media_type, **stream.headers}
    raw = [(name.lower().encode(), text.encode()) for name, text in headers.items()]
    await send({"type": "http.response.start", "status": 200, "headers": raw})
    async with aclosing(stream.pieces) as pieces:
        async for piece in pieces:
            # Returns once the caller takes it: a slow reader is waited for.
            await send(
                {
                    "type": "http.response.body",
                    "body": piece.encode(),
                    "more_body": True,
                }
            )
    await send({"type": "http.response.body"})
