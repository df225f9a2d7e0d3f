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
    notes,
    reviews,
    rulings,
    steps,
    turns,
)
from checkrail.flows.run_core import RunCore
from checkrail.runs.async_calls import AsyncCall, AsyncGateCheck
from checkrail.runs.guard import (
    GuardedFunction,
    Tell,
    get_stored_result,
    tell_beside,
)
from checkrail.transport.async_driver import (
    AsyncDriver,
    make_async_method,
    make_async_method_returning,
)
from checkrail.transport.driver import P, T
from checkrail.transport.effects import Flow

F = TypeVar("F", bound="BaseAsyncRun")
R = TypeVar("R", bound=RunCore)


def make_last_async_method(
    flow: Callable[Concatenate[R, P], Flow[T]],
) -> Callable[Concatenate[R, P], Coroutine[Any, Any, T]]:
    """Make a method that disconnects the run afterwards."""
    method = make_async_method(flow)

    @wraps(flow)
    async def last(self: R, /, *args: P.args, **more: P.kwargs) -> T:
        outcome = await method(self, *args, **more)
        await self.disconnect()  # type: ignore[attr-defined]
        return outcome

    return last


class BaseAsyncRun(RunCore):
    """Everything but steps. `await` it to begin, or use `async with`."""

    driver: AsyncDriver

    # These act on the decision.
    ask = make_async_method(reviews.ask)
    request_approval = make_async_method(reviews.request_approval)
    submit_plan = make_async_method(reviews.submit_plan)
    check_command = make_async_method_returning(AsyncCall, calls.check_command)
    check_tool = make_async_method_returning(AsyncCall, calls.check_tool)
    check_edit = make_async_method_returning(AsyncCall, calls.check_edit)
    check_multi_edit = make_async_method_returning(AsyncCall, calls.check_multi_edit)
    resume_call = make_async_method_returning(AsyncCall, calls.resume_call)
    gate_check = make_async_method_returning(AsyncGateCheck, gate_checks.gate_check)
    turn = make_async_method(turns.turn)
    checkpoint = make_async_method(steps.save_checkpoint)
    record_violation = make_async_method(lifecycle.record_violation)
    latest_checkpoint = make_async_method(steps.latest_checkpoint)
    wait = make_async_method(rulings.wait)
    refresh = make_async_method(lifecycle.refresh)
    take_notes = make_async_method(notes.take_notes)
    finish = make_last_async_method(lifecycle.finish)

    # These send one request, and the answer is the caller's to obey.
    judge_call = make_async_method(call_requests.judge_call)
    claim_call = make_async_method(call_requests.claim_call)
    settle_call = make_async_method(call_requests.settle_call)
    call_standing = make_async_method(call_requests.call_standing)
    open_review = make_async_method(reviews.open_review)
    withdraw = make_async_method(reviews.withdraw)
    standing = make_async_method(rulings.standing)
    list_notes = make_async_method(notes.list_notes)
    acknowledge_note = make_async_method(notes.acknowledge_note)

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
        confirm: bool = False,
        timeout: float | None = None,
        tell: Tell = tell_beside,
    ) -> Callable[[Callable[P, Any]], Callable[P, Coroutine[Any, Any, Any]]]: ...

    def guard(
        self,
        function: Callable[..., Any] | None = None,
        /,
        *,
        tool: str | None = None,
        ignore: Sequence[str] = (),
        confirm: bool = False,
        timeout: float | None = None,
        tell: Tell = tell_beside,
    ) -> Any:
        """Ask before every call of a function, run what is granted, report the result.

        The gates see the tool's name (the function's, unless given) and the arguments
        by name. With `confirm` a person is asked about every call, whatever the gates
        say. If a person amends the arguments, the amended ones run. Of that, and of what
        people wrote, the model is told by the value: `tell(value, words)` gives it another
        form, which by default is a text with the words before it. What comes back has to
        be awaited, also where the function itself is a plain one.
        """
        guarding = partial(
            self._guard_function,
            tool=tool,
            ignore=ignore,
            confirm=confirm,
            timeout=timeout,
            tell=tell,
        )
        return guarding if function is None else guarding(function)

    def _guard_function(
        self,
        function: Callable[..., Any],
        *,
        tool: str | None,
        ignore: Sequence[str],
        confirm: bool,
        timeout: float | None,
        tell: Tell,
    ) -> Callable[..., Coroutine[Any, Any, Any]]:
        guarded = GuardedFunction(function, tool=tool, ignore=ignore, tell=tell)

        @wraps(function)
        async def guarded_function(*args: Any, **more: Any) -> Any:
            bound = guarded.bind(args, more)
            checked = await self.check_tool(
                guarded.tool, bound.judged_arguments, confirm=confirm, timeout=timeout
            )
            async with checked as call:
                if call.replayed:
                    return bound.add_words(call, get_stored_result(call))
                granted = bound.get_granted_arguments(call)
                with bound.keep_words(call):
                    value = function(*granted.args, **granted.kwargs)
                    value = await value if inspect.isawaitable(value) else value
                await call.result_or_keep(output=call_results.pack_output(value))
                return bound.add_words(call, value)

        return guarded_function

    async def begin(self: F) -> F:
        """Start or resume the run, once."""
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
            await self.driver.drive(lifecycle.try_to_send_backlog(self))
        finally:
            await self.disconnect()

    async def disconnect(self) -> None:
        """Release the connections; what was not sent stays unsent."""
        if self._open:
            self._open = False
            lifecycle.warn_about_unsent(self)
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
            await self.disconnect()


class AsyncRun(BaseAsyncRun):
    """A run whose every step is answered before the next."""

    step = make_async_method(steps.step)
    report_step = make_async_method(steps.report_step)
