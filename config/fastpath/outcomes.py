"""What can come instead of an answer: an error, or a caller who hung up.

Every part of the fast path raises; `application` alone catches, and has it sent here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from config.fastpath.asgi import Receive, Scope, Send, send_problem
from config.fastpath.problems import build_problem

T = TypeVar("T")


class ClientGone(Exception):
    """The caller hung up before it got its answer."""


async def send_error(error: Exception, scope: Scope, send: Send) -> None:
    """Say what is wrong; nothing is sent where the caller is gone."""
    if not isinstance(error, ClientGone):
        problem = build_problem(error, method=scope["method"], path=scope["path"])
        await send_problem(send, problem)


async def stop_on_hang_up(work: Awaitable[T], receive: Receive) -> T:
    """Return the result; cancel the work and raise ClientGone if the caller leaves.

    The work needs no task of its own: whoever is woken is answered in the same turn of
    the event loop (bench waking).
    """
    task = asyncio.current_task()
    assert task is not None
    gone = asyncio.ensure_future(wait_for_hang_up(receive))
    working, left = True, False

    def leave(_gone: asyncio.Future[None]) -> None:
        nonlocal left
        if working:
            left = True
            task.cancel()

    gone.add_done_callback(leave)
    try:
        return await work
    except asyncio.CancelledError:
        if not left:
            raise
        task.uncancel()
        raise ClientGone from None
    finally:
        working = False
        gone.cancel()


async def wait_for_hang_up(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
