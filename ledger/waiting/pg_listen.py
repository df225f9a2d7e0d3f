"""What other processes have committed, as PostgreSQL tells those who LISTEN."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import NamedTuple

import psycopg
from django.conf import settings
from django.db import connection
from psycopg.conninfo import make_conninfo

from ledger.writer.halts import CHANNEL as HALTS_CHANNEL
from ledger.writer.store_postgresql import CHANNEL

RETRY_SECONDS = 1.0
# Options of the connection that PostgreSQL's own library does not know.
DJANGOS = frozenset({"pool", "prepare_threshold"})

logger = logging.getLogger(__name__)


class Notified(NamedTuple):
    """Runs that moved, or a project whose halts changed, and the session in which they
    did."""

    session: int
    runs: tuple[int, ...]
    halts: int | None = None


async def receive_notifications() -> AsyncIterator[Notified | None]:
    """For ever, by one connection that is kept up. None when it stands: something may
    have been missed before."""
    while True:
        try:
            async with await psycopg.AsyncConnection.connect(
                _build_connection_string(), autocommit=True
            ) as link:
                await link.execute(f"LISTEN {CHANNEL}")
                await link.execute(f"LISTEN {HALTS_CHANNEL}")
                yield None
                async for told in _receive(link):
                    yield told
        except (psycopg.Error, OSError, ValueError) as error:
            logger.warning("Listening to PostgreSQL failed: %s", error)
            await asyncio.sleep(RETRY_SECONDS)


async def _receive(link: psycopg.AsyncConnection) -> AsyncIterator[Notified]:
    """As `link.notifies()`, with a tenth of its work: it comes at the very moment in
    which agents are to be answered (bench waking)."""
    readable = asyncio.Event()
    loop = asyncio.get_running_loop()
    # Asked for once: a connection that is lost has none, and whoever gets this number
    # next would never be heard.
    socket = link.fileno()
    loop.add_reader(socket, readable.set)
    try:
        while True:
            while told := link.pgconn.notifies():
                if told.relname == HALTS_CHANNEL.encode():
                    yield Notified(told.be_pid, (), int(told.extra))
                    continue
                runs = map(int, told.extra.split(b","))
                yield Notified(told.be_pid, tuple(runs))
            await readable.wait()
            readable.clear()
            link.pgconn.consume_input()
    finally:
        loop.remove_reader(socket)


def _build_connection_string() -> str:
    database = settings.DATABASES["default"]
    named = {
        "dbname": connection.settings_dict["NAME"],
        "user": database["USER"],
        "password": database["PASSWORD"],
        "host": database["HOST"],
        "port": database["PORT"],
        # TLS above all: the listener must be as careful as the pool.
        **{k: v for k, v in database["OPTIONS"].items() if k not in DJANGOS},
    }
    return make_conninfo(**{name: value for name, value in named.items() if value})
