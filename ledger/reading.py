"""Reads for async doors: a few threads with connections, never one per waiter."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from django.db import connection

T = TypeVar("T")
_threads = ThreadPoolExecutor(max_workers=4, thread_name_prefix="read")


async def read(query: Callable[[], T]) -> T:
    """Run a synchronous query beside the event loop."""
    return await asyncio.get_running_loop().run_in_executor(_threads, _query, query)


def _query(query: Callable[[], T]) -> T:
    try:
        return query()
    finally:
        # PostgreSQL: back to the pool. SQLite: opening costs more than keeping.
        if connection.vendor == "postgresql":
            connection.close()
