"""Sockets of a server that names its origins: those, and not the one of the Host header."""

from __future__ import annotations

import pytest
from asgiref.sync import async_to_sync
from django.test.utils import override_settings

from config.fastpath.asgi import Message, Receive, Scope, Send
from config.fastpath.origins import SameOrigin

HOST = "checkrail.invalid"


async def accept(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "websocket.accept"})


def dial(origin: str) -> str:
    """What a page of this origin hears first."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    headers = [(b"host", HOST.encode()), (b"origin", origin.encode())]
    scope: Scope = {"type": "websocket", "scheme": "ws", "headers": headers}
    async_to_sync(SameOrigin(accept))(scope, receive, send)
    return str(sent[0]["type"])


@pytest.mark.parametrize(
    ("origins", "origin", "heard"),
    [
        ([f"https://{HOST}"], f"https://{HOST}", "websocket.accept"),
        ([f"https://{HOST}"], f"http://{HOST}", "websocket.close"),
        ([], f"http://{HOST}", "websocket.accept"),
        ([], f"https://{HOST}", "websocket.close"),
    ],
)
def test_origins_that_are_named_are_the_only_ones(
    origins: list[str], origin: str, heard: str
) -> None:
    """Behind a proxy the Host header is of the right name, but plain http is not ours."""
    with override_settings(ORIGINS=origins, ALLOWED_HOSTS=[HOST]):
        assert dial(origin) == heard
