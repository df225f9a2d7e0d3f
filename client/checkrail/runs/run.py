"""One agent working on one task, with methods that block until there is an answer."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial, wraps
from types import TracebackType
from typing import Any, Concatenate, TypeVar, overload

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
from checkrail.runs.calls import Call, GateCheck
from checkrail.runs.guard import Guarded, stored_result
from checkrail.transport.driver import Driver, P, T, blocking, blocking_as
from checkrail.transport.effects import Flow

F = TypeVar("F", bound="BaseRun")
R = TypeVar("R", bound=RunCore)


def blocking_and_shut(
    flow: Callable[Concatenate[R, P], Flow[T]],
) -> Callable[Concatenate[R, P], T]:
    """A flow after which nothing more is asked."""
    method = blocking(flow)

    @wraps(flow)
    def last(self: R, /, *args: P.args, **more: P.kwargs) -> T:
        outcome = method(self, *args, **more)
        self.shut()  # type: ignore[attr-defined]
        return outcome

    return last


class BaseRun(RunCore):
    """Everything but steps: those are reported at once, or in batches."""

    driver: Driver

    # These obey what they hear.
    ask = blocking(reviews.ask)
    request_approval = blocking(reviews.request_approval)
    check_command = blocking_as(Call, calls.check_command)
    check_tool = blocking_as(Call, calls.check_tool)
    check_edit = blocking_as(Call, calls.check_edit)
    check_multi_edit = blocking_as(Call, calls.check_multi_edit)
    resume_call = blocking_as(Call, calls.resume_call)
    gate_check = blocking_as(GateCheck, gate_checks.gate_check)
    turn = blocking(turns.turn)
    checkpoint = blocking(steps.save_checkpoint)
    latest_checkpoint = blocking(steps.latest_checkpoint)
    wait = blocking(rulings.wait)
    refresh = blocking(lifecycle.refresh)

    # These send one request, and the answer is the caller's to obey.
    judge_call = blocking(call_requests.judge_call)
    claim_call = blocking(call_requests.claim_call)
    settle_call = blocking(call_requests.settle_call)
    call_standing = blocking(call_requests.call_standing)
    open_review = blocking(reviews.open_review)
    withdraw = blocking(reviews.withdraw)
    standing = blocking(rulings.standing)

    _open = False

    @overload
    def guard(self, function: Callable[P, T], /) -> Callable[P, T]: ...

    @overload
    def guard(
        self,
        /,
        *,
        tool: str | None = None,
        ignore: Sequence[str] = (),
        timeout: float | None = None,
    ) -> Callable[[Callable[P, T]], Callable[P, T]]: ...

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
        their names. If a person amends them, the amended ones run. For an asynchronous
        function the asking is done in a thread.
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
    ) -> Callable[..., Any]:
        guarded = Guarded(function, tool=tool, ignore=ignore)
        if inspect.iscoroutinefunction(function):
            # Here and not above: asyncio is only for those who have such functions.
            from checkrail.runs.guard_async import guard_async_function

            check = partial(self.check_tool, guarded.tool, timeout=timeout)
            return guard_async_function(function, guarded, check)

        @wraps(function)
        def asking_first(*args: Any, **more: Any) -> Any:
            bound = guarded.bind(args, more)
            with self.check_tool(guarded.tool, bound.judged, timeout=timeout) as call:
                if call.replayed:
                    return stored_result(call)
                granted = bound.for_running(call)
                value = function(*granted.args, **granted.kwargs)
                call.result_or_keep(output=call_results.packed(value))
                return value

        return asking_first

    finish = blocking_and_shut(lifecycle.finish)

    def begin(self, beginning: Flow[Any]) -> None:
        """Start or take up the run; its connections are held until it ends."""
        self.driver.hold()
        try:
            self.driver.drive(beginning)
        except BaseException:
            self.driver.release()
            raise
        self._open = True

    def close(self) -> None:
        """Leave the run as it is, for another process to resume."""
        try:
            self.driver.drive(lifecycle.send_kept(self))
        finally:
            self.shut()

    def shut(self) -> None:
        """Let go of the connections; what was not sent is not sent any more."""
        if self._open:
            self._open = False
            lifecycle.warn_of_unsent(self)
            self.driver.release()

    def __enter__(self: F) -> F:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if not self._open or self.ended:
                return
            if error is None:
                self.driver.drive(lifecycle.finish(self))
            else:
                self.driver.drive(lifecycle.fail(self, error))
        finally:
            self.shut()


class Run(BaseRun):
    """A run whose every step is answered before the next."""

    step = blocking(steps.step)
    report_step = blocking(steps.report_step)
