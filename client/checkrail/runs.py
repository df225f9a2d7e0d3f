"""One agent working on one task, with methods that block until there is an answer."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial, wraps
from types import TracebackType
from typing import Any, Concatenate, TypeVar, overload

from checkrail.core import RunCore
from checkrail.driving import Driver, P, T, blocking, blocking_as
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


class Call(settling.CallCore):
    """A call that may run now. In a with-block its result is told by itself."""

    driver: Driver

    result = blocking(settling.result)
    result_or_keep = blocking(settling.result_or_keep)

    def __enter__(self) -> Call:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.driver.drive(settling.leave(self, error))


class GateCheck(checks.CheckCore):
    """Quality gates put to a step: ask the model with `prompt`, then give its verdict."""

    driver: Driver

    verdict = blocking(checks.verdict)
    text = blocking(checks.text)
    refresh = blocking(checks.refresh)


class BaseRun(RunCore):
    """Everything but steps: those are reported at once, or in batches."""

    driver: Driver

    # These obey what they hear.
    ask = blocking(asking.ask)
    request_approval = blocking(asking.request_approval)
    check_command = blocking_as(Call, calls.check_command)
    check_tool = blocking_as(Call, calls.check_tool)
    check_edit = blocking_as(Call, calls.check_edit)
    check_multi_edit = blocking_as(Call, calls.check_multi_edit)
    resume_call = blocking_as(Call, calls.resume_call)
    gate_check = blocking_as(GateCheck, checks.gate_check)
    turn = blocking(turns.turn)
    checkpoint = blocking(steps.save_checkpoint)
    latest_checkpoint = blocking(steps.latest_checkpoint)
    wait = blocking(waiting.wait)
    refresh = blocking(ending.refresh)

    # These send one request, and the answer is the caller's to obey.
    judge_call = blocking(call_doors.judge_call)
    claim_call = blocking(call_doors.claim_call)
    settle_call = blocking(call_doors.settle_call)
    call_standing = blocking(call_doors.call_standing)
    open_review = blocking(asking.open_review)
    withdraw = blocking(asking.withdraw)
    standing = blocking(waiting.standing)

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
            from checkrail.threaded import guarded_in_threads

            return guarded_in_threads(self, function, guarded, timeout)

        @wraps(function)
        def asking_first(*args: Any, **more: Any) -> Any:
            bound = guarded.bind(args, more)
            with self.check_tool(guarded.tool, bound.judged, timeout=timeout) as call:
                if call.replayed:
                    return stored_result(call)
                granted = bound.for_running(call)
                value = function(*granted.args, **granted.kwargs)
                call.result_or_keep(output=settling.packed(value))
                return value

        return asking_first

    finish = blocking_and_shut(ending.finish)

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
            self.driver.drive(ending.send_kept(self))
        finally:
            self.shut()

    def shut(self) -> None:
        """Let go of the connections; what was not sent is not sent any more."""
        if self._open:
            self._open = False
            ending.warn_of_unsent(self)
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
                self.driver.drive(ending.finish(self))
            else:
                self.driver.drive(ending.fail(self, error))
        finally:
            self.shut()


class Run(BaseRun):
    """A run whose every step is answered before the next."""

    step = blocking(steps.step)
    report_step = blocking(steps.report_step)
