"""One agent working on one task, on an event loop."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Generator, Sequence
from functools import partial, wraps
from types import TracebackType
from typing import Any, Concatenate, TypeVar, overload

from checkrail.answers import RunState
from checkrail.async_driving import AsyncDriver, awaited, awaited_as
from checkrail.core import RunCore
from checkrail.driving import P, T
from checkrail.flows import (
    asking,
    call_doors,
    calls,
    checks,
    ending,
    settling,
    steps,
    turns,
    waiting,
)
from checkrail.guarding import Guarded, stored_result
from checkrail.wire import Flow

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


class AsyncCall(settling.CallCore):
    """A call that may run now. In an async with-block its result is told by itself."""

    driver: AsyncDriver

    result = awaited(settling.result)
    result_or_keep = awaited(settling.result_or_keep)

    async def __aenter__(self) -> AsyncCall:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.driver.drive(settling.leave(self, error))


class AsyncGateCheck(checks.CheckCore):
    """Quality gates put to a step: ask the model with `prompt`, then give its verdict."""

    driver: AsyncDriver

    verdict = awaited(checks.verdict)
    text = awaited(checks.text)
    refresh = awaited(checks.refresh)


class BaseAsyncRun(RunCore):
    """Everything but steps. `await` it to begin, or use `async with`."""

    driver: AsyncDriver

    # These obey what they hear.
    ask = awaited(asking.ask)
    request_approval = awaited(asking.request_approval)
    check_command = awaited_as(AsyncCall, calls.check_command)
    check_tool = awaited_as(AsyncCall, calls.check_tool)
    check_edit = awaited_as(AsyncCall, calls.check_edit)
    check_multi_edit = awaited_as(AsyncCall, calls.check_multi_edit)
    resume_call = awaited_as(AsyncCall, calls.resume_call)
    gate_check = awaited_as(AsyncGateCheck, checks.gate_check)
    turn = awaited(turns.turn)
    checkpoint = awaited(steps.save_checkpoint)
    latest_checkpoint = awaited(steps.latest_checkpoint)
    wait = awaited(waiting.wait)
    refresh = awaited(ending.refresh)
    finish = awaited_and_shut(ending.finish)

    # These send one request, and the answer is the caller's to obey.
    judge_call = awaited(call_doors.judge_call)
    claim_call = awaited(call_doors.claim_call)
    settle_call = awaited(call_doors.settle_call)
    call_standing = awaited(call_doors.call_standing)
    open_review = awaited(asking.open_review)
    withdraw = awaited(asking.withdraw)
    standing = awaited(waiting.standing)

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
                await call.result_or_keep(output=settling.packed(value))
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
            await self.driver.drive(ending.send_kept(self))
        finally:
            await self.shut()

    async def shut(self) -> None:
        """Let go of the connections; what was not sent is not sent any more."""
        if self._open:
            self._open = False
            ending.warn_of_unsent(self)
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
                await self.driver.drive(ending.finish(self))
            else:
                await self.driver.drive(ending.fail(self, error))
        finally:
            await self.shut()


class AsyncRun(BaseAsyncRun):
    """A run whose every step is answered before the next."""

    step = awaited(steps.step)
    report_step = awaited(steps.report_step)
