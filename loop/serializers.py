"""The loop's rows as JSON for the API."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from accounts.auth import AgentPrincipal, Principal
from guidance.core.money import format_usd
from ledger.chain import format_timestamp
from ledger.serializers import build_review_url
from loop.models import Decision, Incident, Note, Recommendation


def serialize_decision(
    decision: Decision, *, reader: Principal | None = None
) -> dict[str, Any]:
    """Expects `project`, `run`, `signal` and `policy` to be loaded. An agent as `reader`
    is not told what the loop has seen of others."""
    snapshot = json.loads(decision.snapshot)
    if isinstance(reader, AgentPrincipal):
        log = snapshot["recent_log_entries"]
        own = [each for each in log["value"] if each["agent"] == reader.agent_name]
        snapshot["recent_log_entries"] = {**log, "value": own}
    review = None
    if decision.review_id is not None:
        code = str(decision.review_id)
        url = build_review_url(project_slug=decision.project.slug, review=code)
        review = {"id": code, "kind": "loop_action", "url": url}
    return {
        "decision_id": str(decision.code),
        "project": decision.project.slug,
        "trigger_source": decision.trigger_source,
        "trigger": {
            "type": decision.trigger_type,
            "signal": str(decision.signal.code),
            "data": json.loads(decision.signal.data),
            "received_at": format_timestamp(decision.signal.received_at),
        },
        "snapshot": snapshot,
        "state_hash": decision.state_hash,
        "decider": decision.decider,
        "action": decision.action,
        "reasoning_summary": decision.reasoning,
        "outcome": decision.outcome,
        "event": json.loads(decision.event),
        "approval_required": decision.approval_required,
        "review": review,
        "guardrails": json.loads(decision.guardrails),
        "shadow": json.loads(decision.shadow),
        "cost_usd": format_usd(decision.cost_micros),
        "report": json.loads(decision.report),
        "decided_at": format_timestamp(decision.decided_at),
        "resolved_at": _format_time(decision.resolved_at),
        "policy": {
            "name": decision.policy.name,
            "version": decision.policy.version,
            "hash": decision.policy.hash,
        },
        "run": str(decision.run.code),
        "seq": decision.seq,
    }


def serialize_note(note: Note) -> dict[str, Any]:
    return {
        "id": str(note.code),
        "text": note.text,
        "data": json.loads(note.data),
        "state": str(note.state),
        "decision_id": str(note.decision_id) if note.decision_id else None,
        "claims": note.claims,
        "claimed_until": _format_time(note.claimed_until),
        "reason": note.reason,
        "created_at": format_timestamp(note.created_at),
        "ended_at": _format_time(note.ended_at),
    }


def serialize_recommendation(
    row: Recommendation, *, draft: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """`draft` is its current draft; without it, the stored one is shown."""
    return {
        "id": str(row.code),
        "title": row.title,
        "detail": row.detail,
        "change": json.loads(row.change),
        "state": str(row.state),
        "decision_id": str(row.decision_id) if row.decision_id else None,
        "draft": draft or json.loads(row.draft),
        "evidence": json.loads(row.evidence),
        "created_at": format_timestamp(row.created_at),
        "ended_at": _format_time(row.ended_at),
    }


def serialize_incident(incident: Incident) -> dict[str, Any]:
    """Expects `previous` to be loaded."""
    previous = incident.previous
    return {
        "id": str(incident.code),
        "condition": incident.condition,
        "state": "open" if incident.resolved_at is None else "resolved",
        "severity": incident.severity,
        "title": incident.title,
        "detail": incident.detail,
        "joins": incident.joins,
        "decision_id": str(incident.decision_id),
        "previous": str(previous.code) if previous else None,
        "opened_at": format_timestamp(incident.opened_at),
        "seen_at": format_timestamp(incident.seen_at),
        "changed_at": _format_time(incident.changed_at),
        "resolved_at": _format_time(incident.resolved_at),
    }


def _format_time(moment: datetime | None) -> str | None:
    return None if moment is None else format_timestamp(moment)
