"""Violations as rows beside the entries that tell of them: of gates, and of agents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from accounts.auth import AgentPrincipal
from common.responses import Reply, build_reply
from gateway.schemas.runs import ViolationIn
from gateway.stored_outcomes import read_reported_violation
from gateway.use_cases.access import require_own_run
from guidance.core.outcomes.violations import GateViolation
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, SealedEntry
from reviews.errors import refuse_closed
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


@dataclass(kw_only=True)
class RecordViolation(ChangeRequest[Reply]):
    """A rule that the agent says it broke. It counts when the run is judged."""

    locked = False

    agent: AgentPrincipal
    body: ViolationIn

    def decide(self, run: RunState, at: datetime) -> Change[Reply]:
        require_own_run(run, self.agent)
        refuse_closed(run)
        plan = Plan(run, at)
        payload = self.body.model_dump(mode="json")
        seq = plan.next_seq
        plan.add_entry("violation.recorded", actor=self.agent.actor, payload=payload)
        plan.rows += build_violation_rows(
            plan,
            [read_reported_violation(payload)],
            source=ViolationSource.AGENT,
            seq=seq,
        )
        return plan.change(partial(_build_violation_reply, run.code, payload))


def _build_violation_reply(
    run: str, payload: dict[str, Any], entries: Sequence[SealedEntry]
) -> Reply:
    answer = {"run": run, **payload, "receipt": entries[0].build_receipt()}
    return build_reply(answer, status=201)
