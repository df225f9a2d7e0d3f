"""Long work is done for the share of whoever asks, known at the door."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from common.long_work import Share, share
from config.fastpath.application import FastPath
from config.fastpath.asgi import Message, Receive, Scope, Send
from tests.support.builders import Person, Robot, make_project, make_robot


async def ask(headers: list[tuple[bytes, bytes]]) -> list[Share]:
    seen: list[Share] = []

    async def inner(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(share.get())

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        raise AssertionError(message)

    scope: dict[str, Any] = {
        "type": "http",
        "method": "POST",
        "path": "/api/v1/evaluate/command",
        "query_string": b"",
        "headers": headers,
    }
    await FastPath(inner, enabled=False)(scope, receive, send)
    return seen


def build_headers(secret: str) -> list[tuple[bytes, bytes]]:
    return [(b"authorization", f"Bearer {secret}".encode())]


@pytest.fixture
def other(live: object) -> Robot:
    return make_robot(project=make_project())


def test_agents_have_the_share_of_their_project(robo: Robot, other: Robot) -> None:
    (mine,) = asyncio.run(ask(build_headers(robo.key)))
    (again,) = asyncio.run(ask(build_headers(robo.key)))
    (theirs,) = asyncio.run(ask(build_headers(other.key)))
    assert mine == again
    assert mine.project is not None
    assert mine.actor.startswith("agent:")
    assert mine.project != theirs.project
    assert mine.actor != theirs.actor


def test_people_have_one_of_their_own(bob: Person) -> None:
    (hers,) = asyncio.run(ask(build_headers(bob.token)))
    assert hers == Share(None, f"user:{bob.user.code}")
