"""From the first moment of a web process to its last: what is said, and what is let go."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.conf import settings
from django.test.utils import override_settings

from config import asgi, lifespan
from config.fastpath.asgi import TIMED, App, Message, Receive, Scope, Send
from guidance.core.shell_commands.own_server import OwnServer
from guidance.own_server import get_own_server, note_connection
from tests.support.applications import build_application

pytestmark = pytest.mark.once("judges what is said to a server, not what is stored")


def live_through(*messages: str) -> list[Message]:
    """What a server hears that says this to the application."""
    said = [{"type": f"lifespan.{each}"} for each in messages]
    heard: list[Message] = []

    async def receive() -> Message:
        return said.pop(0)

    async def send(message: Message) -> None:
        heard.append(message)

    async_to_sync(asgi.application)({"type": "lifespan"}, receive, send)
    return heard


@pytest.fixture
def route(monkeypatch: pytest.MonkeyPatch) -> App:
    """The application as far as what kind of connection it is, and from where."""

    async def answer(_scope: Scope, _receive: Receive, _send: Send) -> None: ...

    monkeypatch.setattr(asgi, "FastPath", lambda _django, **_: answer)
    return build_application(FAST_PATH=False)


async def nothing(*_: Any) -> Any: ...


def test_a_process_starts_and_stops_when_it_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done: list[str] = []

    def note(name: str) -> Any:
        async def work() -> None:
            done.append(name)

        return work

    monkeypatch.setattr(lifespan, "_start", note("start"))
    monkeypatch.setattr(lifespan, "_stop", note("stop"))
    heard = live_through("startup", "shutdown")
    assert [each["type"] for each in heard] == [
        "lifespan.startup.complete",
        "lifespan.shutdown.complete",
    ]
    assert done == ["start", "stop"]


def test_a_process_that_cannot_start_says_why_and_serves_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def refuse() -> None:
        raise LookupError("SECRET_KEY is weak")

    monkeypatch.setattr(lifespan, "_start", refuse)
    assert live_through("startup", "shutdown") == [
        {"type": "lifespan.startup.failed", "message": "SECRET_KEY is weak"}
    ]


def test_what_waits_is_let_go_and_what_was_served_is_written_before_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended: list[str] = []

    class Broadcaster:
        async def stop(self) -> None:
            ended.append("broadcaster")

    async def close_hub() -> None:
        ended.append("hub")

    monkeypatch.setattr(lifespan, "get_broadcaster", Broadcaster)
    monkeypatch.setattr(lifespan, "close_hub", close_hub)
    monkeypatch.setattr(lifespan, "close_writer", lambda: ended.append("writer"))
    asyncio.run(lifespan._stop())
    assert ended == ["broadcaster", "hub", "writer"]


def test_a_server_without_deadlines_is_warned_of_once(
    route: App, caplog: pytest.LogCaptureFixture
) -> None:
    asgi._warn_untimed.cache_clear()
    caplog.set_level(logging.WARNING)
    plain: Scope = {"type": "http", "headers": []}
    for scope in ({**plain, TIMED: True}, plain, plain):
        async_to_sync(route)(scope, nothing, nothing)
    assert caplog.text.count("start uvicorn with") == 1
    with pytest.raises(ValueError, match="Unknown kind of connection: ftp"):
        async_to_sync(route)({"type": "ftp"}, nothing, nothing)


@override_settings(SERVED_PORT=8000, PUBLIC_URL="http://127.0.0.1:8000", ORIGINS=[])
def test_another_server_tells_its_port_with_each_request(route: App) -> None:
    for server in (None, ("/run/checkrail.sock", None), ("::1", 9100)):
        scope: Scope = {"type": "http", "headers": [], "server": server}
        async_to_sync(route)(scope, nothing, nothing)
    assert get_own_server() == OwnServer(9100)
    assert settings.PUBLIC_URL == "http://[::1]:9100"
    with override_settings(ORIGINS=["https://agents.acme.invalid"]):
        note_connection(("10.0.0.7", 9200))
        assert settings.PUBLIC_URL == "http://[::1]:9100"
        assert settings.SERVED_PORT == 9200
