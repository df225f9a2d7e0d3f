"""The rest of a body that was refused late is waited for all the same."""

from __future__ import annotations

import asyncio

from asgiref.sync import async_to_sync
from django.test.utils import override_settings

from common.errors import RequestTimeout
from config.fastpath.asgi import Message, Receive, Scope, Send, send_problem
from config.server.unread import DiscardUnread

HEADERS = [(b"content-length", b"9")]
SCOPE: Scope = {"type": "http", "path": "/api/v1/runs", "headers": HEADERS}


async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
    await send_problem(send, RequestTimeout("Too slow."))


@override_settings(BODY_TIMEOUT_S=0)
def test_a_body_whose_time_is_over_is_read_before_the_answer_ends() -> None:
    """Else its sender, who is still sending, would find a reset and no answer."""
    happened: list[str] = []
    pieces = [{"body": b"123", "more_body": rest} for rest in (True, True, False)]

    async def receive() -> Message:
        await asyncio.sleep(0.01)
        happened.append("read")
        return {"type": "http.request", **pieces.pop(0)}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.body":
            happened.append("sent" if message.get("more_body", False) else "ended")

    async_to_sync(DiscardUnread(refuse))(SCOPE, receive, send)

    assert happened == ["sent", "read", "read", "read", "ended"]
