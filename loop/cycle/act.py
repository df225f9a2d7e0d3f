"""Act: carry out an action's own changes, and emit its one event."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db.models import F

from guidance.core.loop.alerts import Alert, Latched
from guidance.core.loop.proposals import Proposal
from guidance.core.loop.vocabulary import EVENT
from guidance.selectors import LoadedPolicy
from ledger.chain import format_timestamp
from ledger.plan import Plan
from loop.cycle.drafting import apply_change
from loop.cycle.targets import ActionTarget
from loop.models import (
    Incident,
    Note,
    NoteState,
    ProjectLoop,
    Recommendation,
    RecommendationState,
)

LOOP_ACTOR = "system:loop"


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A proposal that passed every rail, or was approved."""

    decision: str
    proposal: Proposal
    policy: LoadedPolicy
    trigger_source: str
    state_hash: str
    reasoning: str

    def emit(self, plan: Plan, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Add the decision's one event to the plan, and return it."""
        event = {
            "type": EVENT,
            "action": self.proposal.action,
            "kind": self.proposal.kind,
            "parameters": dict(parameters),
            "decision_id": self.decision,
            "reasoning_summary": self.reasoning,
            "state_hash": self.state_hash,
            "trigger_source": self.trigger_source,
            "at": format_timestamp(plan.at),
        }
        payload = {"decision": self.decision, "event": event}
        plan.add_entry("loop.emitted", actor=LOOP_ACTOR, payload=payload)
        return event

    def carry_out(
        self, plan: Plan, target: ActionTarget, latched: Latched | None
    ) -> dict[str, Any]:
        """Add the action's changes to the plan; returns the event's parameters."""
        match self.proposal.action:
            case "process_notes":
                return self._claim_notes(plan, target.notes)
            case "apply_retro_recommendation":
                return self._draft_recommendation(plan, target)
            case "emit_alert":
                assert latched is not None
                return self._raise_alert(plan, target, latched)
            case _:
                return dict(self.proposal.parameters)

    def _claim_notes(self, plan: Plan, codes: tuple[str, ...]) -> dict[str, Any]:
        until = plan.at + timedelta(seconds=self.policy.policy.loop.note_claim_s)
        notes = Note.objects.filter(code__in=codes, state=NoteState.QUEUED)
        plan.side_updates.append(
            partial(
                notes.update,
                state=NoteState.CLAIMED,
                decision_id=self.decision,
                claimed_until=until,
                claims=F("claims") + 1,
            )
        )
        return {"notes": list(codes), "claimed_until": format_timestamp(until)}

    def _draft_recommendation(self, plan: Plan, target: ActionTarget) -> dict[str, Any]:
        row = target.recommendation
        assert row is not None  # without one the guardrails have held the action back
        draft = apply_change(json.loads(row.change), target.policy)
        rows = Recommendation.objects.filter(pk=row.pk)
        plan.side_updates.append(
            partial(
                rows.update,
                state=RecommendationState.DRAFTED,
                decision_id=self.decision,
                draft=json.dumps(draft, ensure_ascii=False),
            )
        )
        return {
            "recommendation": str(row.code),
            "title": row.title,
            "problem": draft.get("problem"),
        }

    def _raise_alert(
        self, plan: Plan, target: ActionTarget, latched: Latched
    ) -> dict[str, Any]:
        alert = Alert(**self.proposal.parameters)
        code = update_incident(
            plan, alert, latched, newest=target.incident, decision=self.decision
        )
        return {
            "condition": alert.condition,
            "status": alert.status,
            "severity": alert.severity,
            "title": alert.title,
            "detail": alert.detail,
            "change": latched.change,
            "incident": code,
        }


def update_incident(
    plan: Plan,
    alert: Alert,
    latched: Latched,
    *,
    newest: Incident | None,
    decision: str,
) -> str | None:
    """Store what an alert changes about its incident; returns the incident's code."""
    at: datetime = plan.at
    rows = Incident.objects.filter(pk__in=[newest.pk] if newest else [])
    content = {
        "severity": alert.severity,
        "title": alert.title,
        "detail": alert.detail,
    }
    match latched.change:
        case "opened":
            opened = Incident(
                project_id=plan.run.project_id,
                condition=alert.condition,
                decision_id=decision,
                previous=newest,
                opened_at=at,
                seen_at=at,
                **content,
            )
            plan.rows.append(opened)
            return str(opened.code)
        case "joined":
            # Its texts stay those that were sent: a change may be sent the next day.
            update = partial(rows.update, joins=F("joins") + 1, seen_at=at)
        case "changed":
            changed = {**content, "changed_at": at}
            update = partial(rows.update, joins=F("joins") + 1, seen_at=at, **changed)
        case "resolved":
            update = partial(rows.update, resolved_at=at)
        case "well":
            loops = ProjectLoop.objects.filter(pk=plan.run.project_id)
            update = partial(loops.update, well_told_at=at)
        case _:
            return None
    plan.side_updates.append(update)
    return str(newest.code) if newest else None
