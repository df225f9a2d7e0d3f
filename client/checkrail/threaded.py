"""Guards of a blocking run around asynchronous functions: the asking is done in threads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import TYPE_CHECKING, Any

from checkrail.flows.settling import packed
from checkrail.guarding import Guarded, stored_result

if TYPE_CHECKING:
    from checkrail.runs import BaseRun


def guarded_in_threads(
    run: BaseRun,
    function: Callable[..., Coroutine[Any, Any, Any]],
    guarded: Guarded,
    timeout: float | None,
) -> Callable[..., Coroutine[Any, Any, Any]]:
    @wraps(function)
    async def asking_first(*args: Any, **more: Any) -> Any:
        bound = guarded.bind(args, more)
        call = await asyncio.to_thread(
            run.check_tool, guarded.tool, bound.judged, timeout=timeout
        )
        if call.replayed:
            return stored_result(call)
        try:
            granted = bound.for_running(call)
            value = await function(*granted.args, **granted.kwargs)
            await asyncio.to_thread(call.result_or_keep, output=packed(value))
        except BaseException as error:
            await asyncio.to_thread(call.__exit__, type(error), error, None)
            raise
        return value

    return asking_first
