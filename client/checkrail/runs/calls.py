"""Granted calls and gate checks, with methods that block."""

from __future__ import annotations

from types import TracebackType

from checkrail.flows import call_results, gate_checks
from checkrail.transport.driver import Driver, make_method


class Call(call_results.CallCore):
    """A call that may run now. In a with-block its result is reported automatically."""

    driver: Driver

    result = make_method(call_results.result)
    result_or_keep = make_method(call_results.result_or_keep)

    def __enter__(self) -> Call:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.driver.drive(call_results.report_end(self, error))


class GateCheck(gate_checks.CheckCore):
    """Quality gates put to a step: ask the model with `prompt`, then give its verdict."""

    driver: Driver

    verdict = make_method(gate_checks.verdict)
    text = make_method(gate_checks.text)
    refresh = make_method(gate_checks.refresh)
