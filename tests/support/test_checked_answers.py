"""A server's wrong answer fails the test, whoever asked."""

from __future__ import annotations

import json
from typing import Any

import pytest

from config.fastpath.asgi import App, Message, Receive, Scope, Send
from tests.support.checked_answers import check_answers, take_faults


def build_application(status: int, body: bytes, kind: str) -> App:
    async def application(_scope: Scope, _receive: Receive, send: Send) -> None:
        headers = [(b"content-type", kind.encode())]
        start = {"type": "http.response.start", "status": status, "headers": headers}
        await send(start)
        half = len(body) // 2
        chunk = {"type": "http.response.body", "body": body[:half], "more_body": True}
        await send(chunk)
        await send({"type": "http.response.body", "body": body[half:]})

    return application


async def list_faults(path: str, status: int, body: Any, kind: str) -> list[str]:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request"}

    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    scope: Scope = {"type": "http", "method": "GET", "path": path}
    await check_answers(build_application(status, raw, kind))(scope, receive, send)
    assert len(sent) == 3  # what is wrong is sent all the same
    return take_faults()


@pytest.mark.parametrize(
    ("status", "body", "kind", "fault"),
    [
        (200, {"status": "ok"}, "application/json", ""),
        (200, {"status": "ok", "mood": "fine"}, "application/json", "'mood'"),
        (200, {}, "application/json", "required property"),
        (200, b"{", "application/json", "GET /api/v1/healthz"),
        (200, b"ok", "text/plain", "text/plain"),
        (418, {}, "application/json", "does not document 418"),
        (500, {}, "application/json", ""),
    ],
)
async def test_a_wrong_answer_is_noticed(
    status: int, body: Any, kind: str, fault: str
) -> None:
    found = await list_faults("/api/v1/healthz", status, body, kind)

    assert len(found) == bool(fault)
    assert fault in "".join(found)


async def test_pages_are_not_the_documents_affair() -> None:
    assert await list_faults("/queue", 200, b"<p>", "text/html") == []
