"""Granted calls and gate checks, with methods to await."""

from __future__ import annotations

from types import TracebackType

from checkrail.flows import call_results, gate_checks
from checkrail.transport.async_driver import AsyncDriver, awaited


class AsyncCall(call_results.CallCore):
    """A call that may run now. In an async with-block its result is told by itself."""

    driver: AsyncDriver

    result = awaited(call_results.result)
    result_or_keep = awaited(call_results.result_or_keep)

    async def __aenter__(self) -> AsyncCall:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.driver.drive(call_results.leave(self, error))


class AsyncGateCheck(gate_checks.CheckCore):
    """Quality gates put to a step: ask the model with `prompt`, then give its verdict."""

    driver: AsyncDriver

    verdict = awaited(gate_checks.verdict)
    text = awaited(gate_checks.text)
    refresh = awaited(gate_checks.refresh)
