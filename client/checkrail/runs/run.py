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
    notes,
    reviews,
    rulings,
    steps,
    turns,
)
from checkrail.flows.run_core import RunCore
from checkrail.runs.calls import Call, GateCheck
from checkrail.runs.guard import (
    GuardedFunction,
    Tell,
    get_stored_result,
    tell_beside,
)
from checkrail.transport.driver import Driver, P, T, make_method, make_method_returning
from checkrail.transport.effects import Flow

F = TypeVar("F", bound="BaseRun")
R = TypeVar("R", bound=RunCore)


def make_last_method(
    flow: Callable[Concatenate[R, P], Flow[T]],
) -> Callable[Concatenate[R, P], T]:
    """Make a method that disconnects the run afterwards."""
    method = make_method(flow)

    @wraps(flow)
    def last(self: R, /, *args: P.args, **more: P.kwargs) -> T:
        outcome = method(self, *args, **more)
        self.disconnect()  # type: ignore[attr-defined]
        return outcome

    return last


class BaseRun(RunCore):
    """Everything but steps: those are reported at once, or in batches."""

    driver: Driver

    # These act on the decision.
    ask = make_method(reviews.ask)
    request_approval = make_method(reviews.request_approval)
    submit_plan = make_method(reviews.submit_plan)
    check_command = make_method_returning(Call, calls.check_command)
    check_tool = make_method_returning(Call, calls.check_tool)
    check_edit = make_method_returning(Call, calls.check_edit)
    check_multi_edit = make_method_returning(Call, calls.check_multi_edit)
    resume_call = make_method_returning(Call, calls.resume_call)
    gate_check = make_method_returning(GateCheck, gate_checks.gate_check)
    turn = make_method(turns.turn)
    checkpoint = make_method(steps.save_checkpoint)
    latest_checkpoint = make_method(steps.latest_checkpoint)
    wait = make_method(rulings.wait)
    refresh = make_method(lifecycle.refresh)
    take_notes = make_method(notes.take_notes)
    record_violation = make_method(lifecycle.record_violation)

    # These send one request, and the answer is the caller's to obey.
    judge_call = make_method(call_requests.judge_call)
    claim_call = make_method(call_requests.claim_call)
    settle_call = make_method(call_requests.settle_call)
    call_standing = make_method(call_requests.call_standing)
    open_review = make_method(reviews.open_review)
    withdraw = make_method(reviews.withdraw)
    standing = make_method(rulings.standing)
    list_notes = make_method(notes.list_notes)
    acknowledge_note = make_method(notes.acknowledge_note)

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
        confirm: bool = False,
        timeout: float | None = None,
        tell: Tell = tell_beside,
    ) -> Callable[[Callable[P, T]], Callable[P, T]]: ...

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
        form, which by default is a text with the words before it. For an asynchronous
        function the asking is done in a thread.
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
    ) -> Callable[..., Any]:
        guarded = GuardedFunction(function, tool=tool, ignore=ignore, tell=tell)
        if inspect.iscoroutinefunction(function):
            # Here and not above: asyncio is only for those who have such functions.
            from checkrail.runs.guard_async import guard_async_function

            check = partial(
                self.check_tool, guarded.tool, confirm=confirm, timeout=timeout
            )
            return guard_async_function(function, guarded, check)

        @wraps(function)
        def guarded_function(*args: Any, **more: Any) -> Any:
            bound = guarded.bind(args, more)
            with self.check_tool(
                guarded.tool, bound.judged_arguments, confirm=confirm, timeout=timeout
            ) as call:
                if call.replayed:
                    return bound.add_words(call, get_stored_result(call))
                granted = bound.get_granted_arguments(call)
                with bound.keep_words(call):
                    value = function(*granted.args, **granted.kwargs)
                call.result_or_keep(output=call_results.pack_output(value))
                return bound.add_words(call, value)

        return guarded_function

    finish = make_last_method(lifecycle.finish)

    def begin(self, beginning: Flow[Any]) -> None:
        """Start or resume the run; its connections stay open until it ends."""
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
            self.driver.drive(lifecycle.try_to_send_backlog(self))
        finally:
            self.disconnect()

    def disconnect(self) -> None:
        """Release the connections; what was not sent stays unsent."""
        if self._open:
            self._open = False
            lifecycle.warn_about_unsent(self)
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
            self.disconnect()


class Run(BaseRun):
    """A run whose every step is answered before the next."""

    step = make_method(steps.step)
    report_step = make_method(steps.report_step)
