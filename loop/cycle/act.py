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
from guidance.core.loop.guardrail_facts import GuardrailFacts
from guidance.core.loop.proposals import Proposal
from guidance.core.loop.vocabulary import EVENT
from guidance.selectors import LoadedPolicy
from ledger.chain import timestamp
from ledger.plan import Plan
from loop.cycle.drafting import build_draft
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
            "at": timestamp(plan.at),
        }
        payload = {"decision": self.decision, "event": event}
        plan.note("loop.emitted", actor=LOOP_ACTOR, payload=payload)
        return event

    def carry_out(
        self, plan: Plan, facts: GuardrailFacts, latched: Latched | None
    ) -> dict[str, Any]:
        """Add the action's changes to the plan; returns the event's parameters."""
        match self.proposal.action:
            case "process_notes":
                return self._claim_notes(plan, facts.claimable)
            case "apply_retro_recommendation":
                return self._draft_recommendation(plan, facts.claimable[0])
            case "emit_alert":
                assert latched is not None
                return self._raise_alert(plan, facts, latched)
            case _:
                return dict(self.proposal.parameters)

    def _claim_notes(self, plan: Plan, codes: tuple[str, ...]) -> dict[str, Any]:
        until = plan.at + timedelta(seconds=self.policy.policy.loop.note_claim_s)
        notes = Note.objects.filter(code__in=codes, state=NoteState.QUEUED)
        plan.effects.append(
            partial(
                notes.update,
                state=NoteState.CLAIMED,
                decision_id=self.decision,
                claimed_until=until,
                claims=F("claims") + 1,
            )
        )
        return {"notes": list(codes), "claimed_until": timestamp(until)}

    def _draft_recommendation(self, plan: Plan, code: str) -> dict[str, Any]:
        row = Recommendation.objects.get(code=code)
        draft = build_draft(json.loads(row.change), project_id=row.project_id)
        rows = Recommendation.objects.filter(pk=row.pk)
        plan.effects.append(
            partial(
                rows.update,
                state=RecommendationState.DRAFTED,
                decision_id=self.decision,
                draft=json.dumps(draft, ensure_ascii=False),
            )
        )
        return {
            "recommendation": code,
            "title": row.title,
            "problem": draft.get("problem"),
        }

    def _raise_alert(
        self, plan: Plan, facts: GuardrailFacts, latched: Latched
    ) -> dict[str, Any]:
        alert = Alert(**self.proposal.parameters)
        code = update_incident(
            plan,
            alert,
            latched,
            known=facts.standing.code if facts.standing else None,
            decision=self.decision,
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
    plan: Plan, alert: Alert, latched: Latched, *, known: str | None, decision: str
) -> str | None:
    """Store what an alert changes about its incident; returns the incident's code."""
    at: datetime = plan.at
    rows = Incident.objects.filter(code__in=[known] if known else [])
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
                previous=rows.first(),
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
    plan.effects.append(update)
    return known
