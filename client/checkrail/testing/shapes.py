"""The answers of the fake, field for field as the server gives them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from checkrail.transport.jcs import to_jcs

Json = dict[str, Any]
AT = "2026-01-01T00:00:00Z"
POLICY: Json = {"name": "default", "version": 1, "hash": "sha256:" + "0" * 64}
REMAINING: Json = {
    "tokens": 1_000_000,
    "tool_calls": 10_000,
    "time_ms": 3_600_000,
    "cost_usd": "10.00",
}
NO_RULING: Json = {"note": "", "answer": None, "amended": None, "grant": None}


def make_id() -> str:
    return str(uuid4())


def build_receipt(seq: int) -> Json:
    return {"seq": seq, "hash": hashlib.sha256(str(seq).encode()).hexdigest()}


def compute_digest(run: str, kind: str, tool: str, fields: Mapping[str, Any]) -> str:
    call = {"run": run, "kind": kind, "tool": tool, **fields}
    return "sha256:" + hashlib.sha256(to_jcs(call).encode()).hexdigest()


def build_waiting_note(text: str) -> Json:
    return {
        "id": make_id(),
        "text": text,
        "by": "alice",
        "at": AT,
        "tags": [],
        "state": "waiting",
        "delivered_at": None,
        "delivered_with": None,
        "delivered_step": None,
        "read_at": None,
    }


def build_finding(decision: str) -> Json:
    return {
        "gate": "scripted",
        "decision": decision,
        "message": f"The script says {decision}",
        "value": None,
        "limit": None,
    }


def build_call_finding(decision: str) -> Json:
    return {
        "gate": "scripted",
        "decision": decision,
        "message": f"The script says {decision}",
        "remediation": None,
        "details": {},
    }


def build_metrics() -> Json:
    return {
        "budget_slope": 0.0,
        "budget_slope_significant": False,
        "rework_ratio": 0.0,
        "rework_ratio_total": 0.0,
        "steps_since_checkpoint": 1,
        "steps_until_checkpoint": 24,
        "coherence": None,
        "coherence_level": None,
        "coherence_source": "none",
        "coherence_reported": None,
        "coherence_computed": None,
        "coherence_parts": None,
        "uncertainty": None,
        "uncertainty_level": None,
        "uncertainty_source": "none",
        "uncertainty_reported": None,
        "uncertainty_computed": None,
        "uncertainty_parts": None,
        "budget_remaining": REMAINING,
        "not_evaluated": ["coherence", "uncertainty"],
    }


def build_evaluation(word: str) -> Json:
    return {
        "decision": word,
        "checkpoint_due": word == "checkpoint",
        "delay_ms": 1000 if word == "throttle" else 0,
        "findings": [] if word == "continue" else [build_finding(word)],
        "metrics": build_metrics(),
        "recommended_action": f"The script says {word}",
    }


def build_budget(wanted: Mapping[str, Any]) -> Json:
    limits = {**REMAINING, **wanted}
    used = {"tokens": 0, "tool_calls": 0, "time_ms": 0, "cost_usd": "0"}
    return {
        name: {"limit": limits[name], "used": used[name], "remaining": limits[name]}
        for name in REMAINING
    }


def build_problem(slug: str, status: int, detail: str, **extra: Any) -> Json:
    return {
        "type": f"/problems/{slug}",
        "title": slug,
        "status": status,
        "detail": detail,
        **extra,
    }
