"""Runs as the writer judges them, without a database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from guidance.core.runs.agent_notes import NO_NOTES
from guidance.core.runs.memory import Memory
from guidance.core.runs.usage import Budget, Usage
from guidance.core.turns.memory import TurnMemory
from ledger.chain import GENESIS
from ledger.state import OpenReview, RunState

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def build_run(**parts: Any) -> RunState:
    given: dict[str, Any] = {
        "id": 1,
        "code": "019a1b2c-3d4e-7f60-8abc-def012345678",
        "project_id": 1,
        "agent_id": 1,
        "policy_id": 1,
        "ancestors": (),
        "labels": {},
        "status": "running",
        "status_reason": "",
        "budget": Budget(),
        "used": Usage(),
        "memory": Memory(),
        "turns": TurnMemory(),
        "observed": False,
        "running_time": None,
        "last_decision": "",
        "throttled_at": None,
        "open_reviews": (),
        "notes": NO_NOTES,
        "head_seq": 1,
        "head_hash": GENESIS,
        "updated_at": AT,
        "finished_at": None,
    }
    return RunState(**given | parts)


def build_open_review(code: str = "a", kind: str = "pause", **parts: Any) -> OpenReview:
    given: dict[str, Any] = {
        "version": 1,
        "digest": "sha256:0",
        "due_at": AT + timedelta(hours=1),
        "on_expiry": "abort",
    }
    return OpenReview(code=code, kind=kind, **given | parts)
