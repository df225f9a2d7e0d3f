"""A run whose steps are sent many at a time, by a task of its own."""

from __future__ import annotations

import asyncio
from typing import Any, TypeVar

from checkrail.flows import batches
from checkrail.flows.lifecycle import send_backlog
from checkrail.flows.step_queue import send_steps_in_background
from checkrail.runs.async_run import BaseAsyncRun
from checkrail.transport.async_driver import AsyncDriver, make_async_method

B = TypeVar("B", bound="AsyncBatchedRun")


class AsyncBatchedRun(BaseAsyncRun, batches.BatchedCore):
    """Steps are queued: fewer requests, but the gates answer late.

    A pause or a stop that was met on the way is obeyed, or raised, at the next call.
    Every call but `step` sends what is queued first. Close it, or use `async with`: an
    event loop that is gone can send nothing.
    """

    step = make_async_method(batches.queue_step)
    flush = make_async_method(batches.flush)

    def __init__(
        self, driver: AsyncDriver, *args: Any, seconds: float, **more: Any
    ) -> None:
        super().__init__(driver, *args, **more)
        self._seconds = seconds
        self._awake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.wake = self._awake.set

    async def begin(self: B) -> B:
        await super().begin()
        if self._task is None:
            self._task = asyncio.create_task(
                self._send_forever(), name="checkrail-steps"
            )
        return self

    async def close(self) -> None:
        """Send what is queued, and leave the run as it is."""
        try:
            await self.driver.drive(send_backlog(self))
        finally:
            await self.disconnect()

    async def disconnect(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await super().disconnect()

    async def _send_forever(self) -> None:
        while True:
            try:
                await asyncio.wait_for(self._awake.wait(), self._seconds)
            except asyncio.TimeoutError:
                pass  # it has been a while: send what there is
            self._awake.clear()
            if not self.backlog.steps:
                continue
            try:
                await self.driver.drive(send_steps_in_background(self))
            except Exception as error:  # raised at the run's next call
                self.backlog.errors.append(error)
