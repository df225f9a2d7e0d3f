"""Granted calls and gate checks, with methods that block."""

from __future__ import annotations

from types import TracebackType

from checkrail.flows import call_results, gate_checks
from checkrail.transport.driver import Driver, blocking


class Call(call_results.CallCore):
    """A call that may run now. In a with-block its result is told by itself."""

    driver: Driver

    result = blocking(call_results.result)
    result_or_keep = blocking(call_results.result_or_keep)

    def __enter__(self) -> Call:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.driver.drive(call_results.leave(self, error))


class GateCheck(gate_checks.CheckCore):
    """Quality gates put to a step: ask the model with `prompt`, then give its verdict."""

    driver: Driver

    verdict = blocking(gate_checks.verdict)
    text = blocking(gate_checks.text)
    refresh = blocking(gate_checks.refresh)
