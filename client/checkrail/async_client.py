"""The client on an event loop: `AsyncCheckrail`, and the runs it starts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, overload

from checkrail.flows import evaluation, lifecycle
from checkrail.flows.batches import check_batch_size
from checkrail.flows.run_core import OnCheckpoint, OnWait
from checkrail.intents import Intent
from checkrail.runs.async_batched_run import AsyncBatchedRun
from checkrail.runs.async_run import AsyncRun
from checkrail.transport.async_driver import AsyncDriver, make_async_method
from checkrail.transport.connection import (
    AGENT_SECONDS,
    STAND_IN_KEY,
    STAND_IN_URL,
    Connection,
    Offline,
    Outage,
    build_connection,
    stand_ins,
)

if TYPE_CHECKING:
    import httpx


class AsyncCheckrail:
    """`Checkrail` for an event loop: the same settings, the same names, awaited."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        offline: Offline = "raise",
        offline_seconds: float | None = None,
        retry_seconds: float = AGENT_SECONDS,
        on_offline: Callable[[Outage], Any] | None = None,
        connect_timeout: float = 5.0,
        read_timeout: float = 30.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        stand_in = stand_ins[-1] if stand_ins and transport is None else None
        self.connection: Connection = build_connection(
            url or (STAND_IN_URL if stand_in else None),
            key or (STAND_IN_KEY if stand_in else None),
            name="CHECKRAIL_KEY",
            offline=offline,
            offline_seconds=offline_seconds,
            retry_seconds=retry_seconds,
            on_offline=on_offline,
            connect_timeout=connect_timeout,
            read_timeout=read_timeout,
            clock=stand_in.clock if stand_in else time.monotonic,
        )
        self.driver = AsyncDriver(
            self.connection,
            transport=stand_in.async_transport if stand_in else transport,
            sleep=stand_in.async_sleep if stand_in else asyncio.sleep,
        )

    @overload
    def run(
        self,
        task: str,
        *,
        intent: Intent = "general",
        model: str = "",
        policy: str = "default",
        budget: Mapping[str, Any] | None = None,
        labels: Mapping[str, str] | None = None,
        parent_run: str | None = None,
        on_checkpoint: OnCheckpoint | None = None,
        on_wait: OnWait | None = None,
        batch_steps: None = None,
    ) -> AsyncRun: ...

    @overload
    def run(
        self,
        task: str,
        *,
        intent: Intent = "general",
        model: str = "",
        policy: str = "default",
        budget: Mapping[str, Any] | None = None,
        labels: Mapping[str, str] | None = None,
        parent_run: str | None = None,
        on_checkpoint: OnCheckpoint | None = None,
        on_wait: OnWait | None = None,
        batch_steps: int,
        batch_seconds: float = 2.0,
    ) -> AsyncBatchedRun: ...

    def run(
        self,
        task: str,
        *,
        intent: Intent = "general",
        model: str = "",
        policy: str = "default",
        budget: Mapping[str, Any] | None = None,
        labels: Mapping[str, str] | None = None,
        parent_run: str | None = None,
        on_checkpoint: OnCheckpoint | None = None,
        on_wait: OnWait | None = None,
        batch_steps: int | None = None,
        batch_seconds: float = 2.0,
    ) -> AsyncRun | AsyncBatchedRun:
        """A run to `async with`, or to `await` and to end with `finish()` or `close()`.

        With `batch_steps` steps are queued and sent together, when there are so many or
        after `batch_seconds`: fewer requests, but the gates answer late.
        """
        body = lifecycle.build_run_body(
            task,
            intent=intent,
            model=model,
            policy=policy,
            budget=budget,
            labels=labels,
            parent_run=parent_run,
        )
        start = partial(lifecycle.start, body=body)
        if batch_steps is None:
            return AsyncRun(
                self.driver, start, on_checkpoint=on_checkpoint, on_wait=on_wait
            )
        return AsyncBatchedRun(
            self.driver,
            start,
            on_checkpoint=on_checkpoint,
            on_wait=on_wait,
            batch=check_batch_size(batch_steps),
            seconds=batch_seconds,
        )

    def resume(
        self,
        run_id: str,
        *,
        on_checkpoint: OnCheckpoint | None = None,
        on_wait: OnWait | None = None,
    ) -> AsyncRun:
        """Take up a run of this agent that another process has begun; awaited as `run`."""
        take_up = partial(lifecycle.resume, run_id=run_id)
        return AsyncRun(
            self.driver, take_up, on_checkpoint=on_checkpoint, on_wait=on_wait
        )

    evaluate_command = make_async_method(evaluation.evaluate_command)
    evaluate_tool = make_async_method(evaluation.evaluate_tool)
    evaluate_edit = make_async_method(evaluation.evaluate_edit)
    evaluate_multi_edit = make_async_method(evaluation.evaluate_multi_edit)
    evaluate_turn = make_async_method(evaluation.evaluate_turn)
    evaluate_verdict = make_async_method(evaluation.evaluate_verdict)
    evaluate_continue = make_async_method(evaluation.evaluate_continue)

    async def close(self) -> None:
        """Close all connections; the next request opens new ones."""
        await self.driver.close()

    async def __aenter__(self) -> AsyncCheckrail:
        self.driver.hold()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.driver.release()
