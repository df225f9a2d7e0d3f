"""Guards of a blocking run around asynchronous functions: threads do the asking."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any

from checkrail.flows.call_results import pack_output
from checkrail.runs.calls import Call
from checkrail.runs.guard import GuardedFunction, get_stored_result


def guard_async_function(
    function: Callable[..., Coroutine[Any, Any, Any]],
    guarded: GuardedFunction,
    check: Callable[[dict[str, Any]], Call],
) -> Callable[..., Coroutine[Any, Any, Any]]:
    """`check` asks about a call with these arguments, and blocks until it may run."""

    @wraps(function)
    async def guarded_function(*args: Any, **more: Any) -> Any:
        bound = guarded.bind(args, more)
        call = await asyncio.to_thread(check, bound.judged_arguments)
        if call.replayed:
            return bound.add_words(call, get_stored_result(call))
        try:
            granted = bound.get_granted_arguments(call)
            with bound.keep_words(call):
                value = await function(*granted.args, **granted.kwargs)
            await asyncio.to_thread(call.result_or_keep, output=pack_output(value))
        except BaseException as error:
            await asyncio.to_thread(call.__exit__, type(error), error, None)
            raise
        return bound.add_words(call, value)

    return guarded_function
