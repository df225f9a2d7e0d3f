"""Violations as rows beside the entries that tell of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from guidance.core.outcomes.violations import GateViolation
from ledger.plan import Plan
from reviews.models import Violation, ViolationSource


def add_gate_violations(
    plan: Plan,
    payload: dict[str, Any],
    found: Sequence[GateViolation],
    *,
    seq: int,
    call: str | None = None,
) -> None:
    """Into the entry at `seq`, whose payload this is, and into rows of their own."""
    if not found:
        return
    payload["violations"] = [violation.to_json() for violation in found]
    plan.rows += build_violation_rows(
        plan,
        payload["violations"],
        source=ViolationSource.GATE,
        seq=seq,
        call=call,
    )


def build_violation_rows(
    plan: Plan,
    violations: Iterable[dict[str, Any]],
    *,
    source: ViolationSource,
    seq: int,
    call: str | None = None,
) -> Iterable[Violation]:
    for place, violation in enumerate(violations):
        yield Violation(
            project_id=plan.run.project_id,
            run_id=plan.run.id,
            seq=seq,
            place=place,
            at=plan.at,
            rule=violation["rule"],
            severity=violation["severity"],
            source=source,
            gate=violation.get("gate", ""),
            decision=violation.get("decision", ""),
            auto_corrected=violation.get("auto_corrected", False),
            destructive=violation.get("destructive", False),
            text=violation.get("text", ""),
            call_id=call,
        )
