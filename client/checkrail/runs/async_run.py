"""One agent working on one task, on an event loop."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Generator, Sequence
from functools import partial, wraps
from types import TracebackType
from typing import Any, Concatenate, TypeVar, overload

from checkrail.answers import RunState
from checkrail.flows import (
    call_requests,
    call_results,
    calls,
    gate_checks,
    lifecycle,
    reviews,
    rulings,
    steps,
    turns,
)
from checkrail.flows.run_core import RunCore
from checkrail.runs.async_calls import AsyncCall, AsyncGateCheck
from checkrail.runs.guard import Guarded, stored_result
from checkrail.transport.async_driver import AsyncDriver, awaited, awaited_as
from checkrail.transport.driver import P, T
from checkrail.transport.effects import Flow

F = TypeVar("F", bound="BaseAsyncRun")
R = TypeVar("R", bound=RunCore)


def awaited_and_shut(
    flow: Callable[Concatenate[R, P], Flow[T]],
) -> Callable[Concatenate[R, P], Coroutine[Any, Any, T]]:
    """A flow after which nothing more is asked."""
    method = awaited(flow)

    @wraps(flow)
    async def last(self: R, /, *args: P.args, **more: P.kwargs) -> T:
        outcome = await method(self, *args, **more)
        await self.shut()  # type: ignore[attr-defined]
        return outcome

    return last


class BaseAsyncRun(RunCore):
    """Everything but steps. `await` it to begin, or use `async with`."""

    driver: AsyncDriver

    # These obey what they hear.
    ask = awaited(reviews.ask)
    request_approval = awaited(reviews.request_approval)
    check_command = awaited_as(AsyncCall, calls.check_command)
    check_tool = awaited_as(AsyncCall, calls.check_tool)
    check_edit = awaited_as(AsyncCall, calls.check_edit)
    check_multi_edit = awaited_as(AsyncCall, calls.check_multi_edit)
    resume_call = awaited_as(AsyncCall, calls.resume_call)
    gate_check = awaited_as(AsyncGateCheck, gate_checks.gate_check)
    turn = awaited(turns.turn)
    checkpoint = awaited(steps.save_checkpoint)
    latest_checkpoint = awaited(steps.latest_checkpoint)
    wait = awaited(rulings.wait)
    refresh = awaited(lifecycle.refresh)
    finish = awaited_and_shut(lifecycle.finish)

    # These send one request, and the answer is the caller's to obey.
    judge_call = awaited(call_requests.judge_call)
    claim_call = awaited(call_requests.claim_call)
    settle_call = awaited(call_requests.settle_call)
    call_standing = awaited(call_requests.call_standing)
    open_review = awaited(reviews.open_review)
    withdraw = awaited(reviews.withdraw)
    standing = awaited(rulings.standing)

    _open = False

    def __init__(
        self,
        driver: AsyncDriver,
        beginning: Callable[[RunCore], Flow[RunState]],
        **more: Any,
    ) -> None:
        super().__init__(driver, **more)
        self._beginning = beginning

    @overload
    def guard(
        self, function: Callable[P, Coroutine[Any, Any, T]], /
    ) -> Callable[P, Coroutine[Any, Any, T]]: ...

    @overload
    def guard(
        self, function: Callable[P, T], /
    ) -> Callable[P, Coroutine[Any, Any, T]]: ...

    @overload
    def guard(
        self,
        /,
        *,
        tool: str | None = None,
        ignore: Sequence[str] = (),
        timeout: float | None = None,
    ) -> Callable[[Callable[P, Any]], Callable[P, Coroutine[Any, Any, Any]]]: ...

    def guard(
        self,
        function: Callable[..., Any] | None = None,
        /,
        *,
        tool: str | None = None,
        ignore: Sequence[str] = (),
        timeout: float | None = None,
    ) -> Any:
        """Ask before every call of a function: what is granted runs, the result is told.

        Judged is the tool's name (the function's, unless given) with the arguments by
        their names. If a person amends them, the amended ones run. What comes back has to
        be awaited, also where the function itself is a plain one.
        """
        if function is None:
            return partial(self._guarded, tool=tool, ignore=ignore, timeout=timeout)
        return self._guarded(function, tool=tool, ignore=ignore, timeout=timeout)

    def _guarded(
        self,
        function: Callable[..., Any],
        *,
        tool: str | None,
        ignore: Sequence[str],
        timeout: float | None,
    ) -> Callable[..., Coroutine[Any, Any, Any]]:
        guarded = Guarded(function, tool=tool, ignore=ignore)

        @wraps(function)
        async def asking_first(*args: Any, **more: Any) -> Any:
            bound = guarded.bind(args, more)
            checked = await self.check_tool(guarded.tool, bound.judged, timeout=timeout)
            async with checked as call:
                if call.replayed:
                    return stored_result(call)
                granted = bound.for_running(call)
                value = function(*granted.args, **granted.kwargs)
                value = await value if inspect.isawaitable(value) else value
                await call.result_or_keep(output=call_results.packed(value))
                return value

        return asking_first

    async def begin(self: F) -> F:
        """Start the run, or take it up; once."""
        if self._state is None:
            self.driver.hold()
            try:
                await self.driver.drive(self._beginning(self))
            except BaseException:
                await self.driver.release()
                raise
            self._open = True
        return self

    def __await__(self: F) -> Generator[Any, None, F]:
        return self.begin().__await__()

    async def close(self) -> None:
        """Leave the run as it is, for another process to resume."""
        try:
            await self.driver.drive(lifecycle.send_kept(self))
        finally:
            await self.shut()

    async def shut(self) -> None:
        """Let go of the connections; what was not sent is not sent any more."""
        if self._open:
            self._open = False
            lifecycle.warn_of_unsent(self)
            await self.driver.release()

    async def __aenter__(self: F) -> F:
        return await self.begin()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if not self._open or self.ended:
                return
            if error is None:
                await self.driver.drive(lifecycle.finish(self))
            else:
                await self.driver.drive(lifecycle.fail(self, error))
        finally:
            await self.shut()


class AsyncRun(BaseAsyncRun):
    """A run whose every step is answered before the next."""

    step = awaited(steps.step)
    report_step = awaited(steps.report_step)
