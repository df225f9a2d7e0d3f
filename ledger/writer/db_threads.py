"""Queries for async code: a few threads with connections, never one per waiter."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from django.db import InterfaceError, OperationalError, connection

T = TypeVar("T")
THREADS = 4
_threads = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="read")


async def run_in_db_thread(query: Callable[[], T]) -> T:
    """Run a synchronous query beside the event loop."""
    return await asyncio.get_running_loop().run_in_executor(_threads, _run_query, query)


def _run_query(query: Callable[[], T]) -> T:
    """Each thread keeps its connection: to take one from the pool and check it every
    time would cost more than the query."""
    try:
        return query()
    except (OperationalError, InterfaceError):
        # It may have died with its server. A read may be asked again, on a new one.
        connection.close()
        return query()
