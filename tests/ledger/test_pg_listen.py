"""The connection that LISTENs is lost: it comes back, and leaves nothing behind."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import connection
from psycopg.conninfo import conninfo_to_dict

from ledger.waiting.pg_listen import (
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

    assert await asyncio.wait_for(again, 15) is None
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
