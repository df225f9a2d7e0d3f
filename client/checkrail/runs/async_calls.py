"""Granted calls and gate checks, with methods to await."""

from __future__ import annotations

from types import TracebackType

from checkrail.flows import call_results, gate_checks
from checkrail.transport.async_driver import AsyncDriver, make_async_method


class AsyncCall(call_results.CallCore):
    """A call that may run now. In an `async with` block its result is reported automatically."""

    driver: AsyncDriver

    result = make_async_method(call_results.result)
    result_or_keep = make_async_method(call_results.result_or_keep)

    async def __aenter__(self) -> AsyncCall:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.driver.drive(call_results.report_end(self, error))


class AsyncGateCheck(gate_checks.CheckCore):
    """Quality gates put to a step: ask the model with `prompt`, then give its verdict."""

    driver: AsyncDriver

    verdict = make_async_method(gate_checks.verdict)
    text = make_async_method(gate_checks.text)
    refresh = make_async_method(gate_checks.refresh)
