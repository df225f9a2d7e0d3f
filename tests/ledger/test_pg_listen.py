"""The connection that LISTENs is lost: it comes back, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import connection
from psycopg.conninfo import conninfo_to_dict

from ledger.waiting import pg_listen
from ledger.waiting.pg_listen import (
    Notified,
    _build_connection_string,
    receive_notifications,
)
from tests.support.live import Live

CUT = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE query LIKE 'LISTEN %' AND datname = current_database()
"""


def cut_listeners() -> None:
    with connection.cursor() as cursor:
        cursor.execute(CUT)
    connection.close()


async def test_a_listener_that_was_cut_is_not_waited_for_any_more(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its number belongs to the next socket that somebody opens."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite tells nobody.")
    loop = asyncio.get_running_loop()
    watched: list[int] = []
    add, remove = loop.add_reader, loop.remove_reader

    def added(socket: int, call: Callable[..., Any], *args: Any) -> Any:
        watched.append(socket)
        return add(socket, call, *args)

    def removed(socket: int) -> bool:
        watched.remove(socket)
        return remove(socket)

    told = receive_notifications()
    assert await anext(told) is None
    monkeypatch.setattr(loop, "add_reader", added)
    monkeypatch.setattr(loop, "remove_reader", removed)
    again = asyncio.ensure_future(anext(told))
    while not watched:
        await asyncio.sleep(0)
    assert len(watched) == 1

    await sync_to_async(cut_listeners)()

    assert await asyncio.wait_for(again, 60) is None
    assert watched == []


def test_the_listener_is_as_careful_as_the_pool(
    database: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes the same options, but for those that are Django's own."""
    options = {"sslmode": "verify-full", "sslrootcert": "ca.pem", "pool": True}
    given = {"USER": "app", "PASSWORD": "", "HOST": "db.invalid", "PORT": "5433"}
    monkeypatch.setitem(settings.DATABASES, "default", {**given, "OPTIONS": options})

    used = conninfo_to_dict(_build_connection_string())

    assert used == {
        "dbname": str(connection.settings_dict["NAME"]),
        "user": "app",
        "host": "db.invalid",
        "port": "5433",
        "sslmode": "verify-full",
        "sslrootcert": "ca.pem",
    }


class FakeLink:
    """A connection that hears these payloads and is then lost."""

    def __init__(self, *payloads: bytes) -> None:
        told = [
            SimpleNamespace(be_pid=7, relname=b"checkrail", extra=each)
            for each in payloads
        ]
        self.pgconn = SimpleNamespace(notifies=lambda: told.pop(0) if told else None)
        self.executed: list[str] = []

    async def __aenter__(self) -> FakeLink:
        return self

    async def __aexit__(self, *_args: object) -> None:
        return None

    async def execute(self, statement: str) -> None:
        self.executed.append(statement)

    def fileno(self) -> int:
        raise OSError("It was lost.")


async def test_listening_is_tried_again_whatever_was_wrong(
    database: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whenever it stands again something may have been missed, and that is said."""
    link = FakeLink()
    outcomes: list[Any] = [
        psycopg.OperationalError("refused"),
        OSError("no such host"),
        ValueError("a port that is none"),
        link,
        link,
    ]
    asked: list[dict[str, Any]] = []
    slept: list[float] = []

    async def connect(_conninfo: str, **options: Any) -> Any:
        asked.append(options)
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(psycopg.AsyncConnection, "connect", connect)
    monkeypatch.setattr(pg_listen, "_build_connection_string", lambda: "")
    asynchronous = SimpleNamespace(**vars(asyncio) | {"sleep": sleep})
    monkeypatch.setattr(pg_listen, "asyncio", asynchronous)

    told = receive_notifications()
    assert [await anext(told), await anext(told)] == [None, None]
    await told.aclose()  # type: ignore[attr-defined]

    assert slept == [pg_listen.RETRY_SECONDS] * 4
    assert asked == [{"autocommit": True}] * 5
    assert link.executed == ["LISTEN checkrail", "LISTEN checkrail_halts"] * 2


async def test_one_notification_may_name_several_runs() -> None:
    link: Any = FakeLink(b"1", b"2,3")
    read, write = socket.socketpair()
    link.fileno = read.fileno
    told: AsyncIterator[Notified] = pg_listen._receive(link)
    assert await anext(told) == Notified(7, (1,))
    assert await anext(told) == Notified(7, (2, 3))
    await told.aclose()  # type: ignore[attr-defined]
    read.close()
    write.close()
