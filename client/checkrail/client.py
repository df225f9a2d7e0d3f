"""The blocking client: `Checkrail`, and the runs it starts."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, overload

from checkrail.flows import evaluation, lifecycle
from checkrail.flows.batches import check_batch_size
from checkrail.flows.run_core import OnCheckpoint, OnWait
from checkrail.intents import Intent
from checkrail.runs.batched_run import BatchedRun
from checkrail.runs.run import Run
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
from checkrail.transport.driver import Driver, make_method

if TYPE_CHECKING:
    import httpx


class Checkrail:
    """An agent's way to the server: address and key from CHECKRAIL_URL, CHECKRAIL_KEY.

    `offline="raise"`: an ordinary request is tried for `retry_seconds` (600), then
    Unreachable is raised; while a person is waited for, for `offline_seconds` (600). With
    `offline="wait"` both are tried for `offline_seconds`, for ever if that is None.
    Either way the log says when the server goes away and when it is back, and each try is
    told to `on_offline`.
    """

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
        transport: httpx.BaseTransport | None = None,
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
        self.driver = Driver(
            self.connection,
            transport=stand_in.transport if stand_in else transport,
            sleep=stand_in.sleep if stand_in else time.sleep,
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
    ) -> Run: ...

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
    ) -> BatchedRun: ...

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
    ) -> Run | BatchedRun:
        """Start a run. Use it in a with-block, or end it with `finish()` or `close()`.

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
        run: Run | BatchedRun
        if batch_steps is None:
            run = Run(self.driver, on_checkpoint=on_checkpoint, on_wait=on_wait)
        else:
            run = BatchedRun(
                self.driver,
                on_checkpoint=on_checkpoint,
                on_wait=on_wait,
                batch=check_batch_size(batch_steps),
                seconds=batch_seconds,
            )
        run.begin(lifecycle.start(run, body))
        return run

    def resume(
        self,
        run_id: str,
        *,
        on_checkpoint: OnCheckpoint | None = None,
        on_wait: OnWait | None = None,
    ) -> Run:
        """Take up a run of this agent that another process has begun."""
        run = Run(self.driver, on_checkpoint=on_checkpoint, on_wait=on_wait)
        run.begin(lifecycle.resume(run, run_id))
        return run

    evaluate_command = make_method(evaluation.evaluate_command)
    evaluate_tool = make_method(evaluation.evaluate_tool)
    evaluate_edit = make_method(evaluation.evaluate_edit)
    evaluate_multi_edit = make_method(evaluation.evaluate_multi_edit)
    evaluate_turn = make_method(evaluation.evaluate_turn)
    evaluate_verdict = make_method(evaluation.evaluate_verdict)
    evaluate_continue = make_method(evaluation.evaluate_continue)

    def close(self) -> None:
        """Close all connections; the next request opens new ones."""
        self.driver.close()

    def __enter__(self) -> Checkrail:
        self.driver.hold()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.driver.release()
