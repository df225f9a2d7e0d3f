"""Queries for async code: a few threads with connections, never one per waiter."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from django.db import InterfaceError, OperationalError, connection
from django.http import StreamingHttpResponse

T = TypeVar("T")
Place = TypeVar("Place")
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


def stream_rows(
    read: Callable[[Place | None], tuple[str, Place | None]],
    *,
    headers: Mapping[str, str],
) -> StreamingHttpResponse:
    """Answer with a text that is too long to be built at once.

    `read` gives the piece that begins at a place, and where the next one begins: at None
    the first, before None the last. All that makes a piece happens in it, because a row
    may ask for more than its own query.
    """
    return StreamingHttpResponse(_stream_pieces(read), headers=headers)


async def _stream_pieces(
    read: Callable[[Place | None], tuple[str, Place | None]],
) -> AsyncIterator[str]:
    place: Place | None = None
    while True:
        piece, place = await run_in_db_thread(partial(read, place))
        if piece:
            yield piece
        if place is None:
            return
