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
    """Return the result; cancel the work and raise ClientGone if the caller leaves."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(wait_for_hang_up(receive))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise ClientGone
    finally:
        gone.cancel()
        task.cancel()


async def wait_for_hang_up(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
