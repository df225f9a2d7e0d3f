"""What the ledger's own entries do to a run: those about the run itself."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from functools import partial

from guidance.core.runs.memory import Memory
from guidance.core.runs.running_time import RunningTime
from guidance.core.runs.usage import Budget
from ledger.entry_types import Payload, register_entry_type
from ledger.state import NO_TURNS, RunState


def register_entry_types() -> None:
    register_entry_type("run.started", apply=apply_started)
    register_entry_type("run.finished", apply=apply_finished)
    for status in ("stopped", "aborted", "abandoned"):
        apply = partial(apply_ended, status)
        register_entry_type(f"run.{status}", apply=apply)
    register_entry_type("run.reopened", apply=apply_reopened)
    register_entry_type("run.policy_changed")
    register_entry_type("checkpoint.saved", apply=apply_checkpoint)
    register_entry_type("checkpoint.redacted")


def apply_started(run: RunState, payload: Payload, at: datetime) -> RunState:
    """A run as its first entry describes it, before anything happened."""
    return replace(
        run,
        status="running",
        status_reason="",
        budget=Budget(**payload["budget"]),
        memory=Memory(),
        turns=NO_TURNS,
        observed=payload.get("observed", False),
        # Entries of before say nothing of it, and their runs are not judged by it.
        running_time=RunningTime(since=at) if payload.get("timed") else None,
    )


def apply_finished(run: RunState, payload: Payload, at: datetime) -> RunState:
    """As the run was judged; before runs were judged, as its agent said."""
    status = payload.get("status", payload["outcome"])
    reason = payload.get("reason", payload.get("summary", ""))
    return run.with_status(status, reason=reason, at=at)


def apply_ended(status: str, run: RunState, payload: Payload, at: datetime) -> RunState:
    return run.with_status(status, reason=payload["reason"], at=at)


def apply_reopened(run: RunState, payload: Payload, at: datetime) -> RunState:
    fresh = replace(
        run,
        budget=Budget(**payload["budget"]),
        memory=run.memory.start_fresh(),
        turns=NO_TURNS,
    )
    return fresh.with_status("running", reason=payload["reason"], at=at)


def apply_checkpoint(run: RunState, payload: Payload, _at: datetime) -> RunState:
    return replace(run, memory=run.memory.set_checkpoint(payload["step"]))
