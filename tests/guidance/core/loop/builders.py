"""Snapshots, triggers and sections for tests of the loop's core."""

from __future__ import annotations

from typing import Any

from guidance.core.loop.facts import Measured, Snapshot, Trigger, build_identity
from guidance.core.loop.section import LoopSection
from guidance.core.policy import load_policy

NOW = "2026-01-01T00:00:00.000000Z"
HALF_DONE = {"paused": 0, "stopped": 0, "abandoned": 0, "checkpoints_not_resumed": 0}


def snapshot(*, stale: tuple[str, ...] = (), **values: Any) -> Snapshot:
    known: dict[str, Any] = {
        "note_queue_length": 0,
        "recent_log_entries": [],
        "pending_recommendations": 0,
        "active_runs": 0,
        "half_done": HALF_DONE,
        **values,
    }
    return Snapshot(
        **{
            name: Measured(value=value, at=NOW, stale=name in stale)
            for name, value in known.items()
        }
    )


def trigger(type: str = "heartbeat", *, source: str = "signal", **data: Any) -> Trigger:
    identity = build_identity(type=type, data=data, dedupe_key=None)
    return Trigger(type=type, source=source, data=data, identity=identity)


def section(**loop: Any) -> LoopSection:
    return load_policy({"loop": loop}).loop
