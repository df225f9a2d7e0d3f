"""What can come instead of an answer: an error, or a caller who hung up.

Every part of the fast path raises; these two functions are the only places that catch.
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


async def send_errors(work: Awaitable[T], scope: Scope, send: Send) -> T | None:
    """Return the result; None after an error was sent, or when the caller is gone."""
    try:
        return await work
    except ClientGone:
        return None
    except Exception as error:
        problem = build_problem(error, method=scope["method"], path=scope["path"])
        await send_problem(send, problem)
        return None


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
