"""Runs and checkpoints as the API shows them, and their addresses in the console."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django.conf import settings

from guidance.core.money import format_usd
from guidance.core.runs.usage import Usage
from guidance.selectors import get_policy
from ledger.allowances import serialize_allowances
from ledger.chain import format_timestamp
from ledger.models import Checkpoint, Run, RunOutcome
from ledger.state import compute_time_used
from ledger.trees.relatives import Relatives, read_relatives

# What a run's answer needs beside its own row.
RUN_RELATED = ("project", "agent", "outcome")


def serialize_runs(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Without what takes their memory, which lists do not read."""
    relatives = read_relatives(runs)
    return [_serialize_run(run, relatives[run.pk]) for run in runs]


def serialize_run(run: Run) -> dict[str, Any]:
    return {**serialize_runs([run])[0], "allowances": serialize_allowances(run)}


def _serialize_run(run: Run, relatives: Relatives) -> dict[str, Any]:
    policy = get_policy(run.policy_id)
    slug = run.project.slug
    return {
        "id": str(run.code),
        "project": slug,
        "agent": run.agent.name,
        "parent_run": None if relatives.parent is None else str(relatives.parent),
        "children": {"running": relatives.running, "total": relatives.total},
        "task": run.task,
        "intent": run.intent,
        "model": run.model or None,
        "labels": run.labels,
        "status": run.status,
        "status_reason": run.status_reason or None,
        **serialize_outcome(run),
        "policy": policy.build_stamp(),
        "budget": serialize_budget(run, below=relatives.below),
        "steps": run.steps,
        "rework_steps": run.rework_steps,
        "last_step": run.last_step,
        "last_checkpoint_step": run.last_checkpoint_step,
        "open_reviews": [
            {
                "id": code,
                "kind": kind,
                "url": build_review_url(project_slug=slug, review=code),
            }
            for code, kind, *_ in json.loads(run.open_reviews)
        ],
        "head": {"seq": run.head_seq, "hash": run.head_hash},
        "created_at": format_timestamp(run.created_at),
        "updated_at": format_timestamp(run.updated_at),
        "finished_at": format_timestamp(run.finished_at) if run.finished_at else None,
        "url": build_run_url(project_slug=slug, run=str(run.code)),
    }


def serialize_outcome(run: Run) -> dict[str, Any]:
    """How it was judged when it finished; nothing is known of it before."""
    outcome: RunOutcome | None = getattr(run, "outcome", None)
    if outcome is None:
        return {"evaluations": [], "accepted": None}
    return {
        "evaluations": json.loads(outcome.evaluations),
        "accepted": outcome.accepted,
    }


def serialize_budget(run: Run, *, below: Usage) -> dict[str, dict[str, Any]]:
    """As of the run's last entry, with what the runs below it have used since: it reads the
    same until something happens."""
    calls = run.tool_calls_used + below.tool_calls
    parts = {
        "tokens": (run.tokens_limit, run.tokens_used + below.tokens),
        "tool_calls": (run.tool_calls_limit, calls),
        "time_ms": (run.time_ms_limit, compute_time_used(run, run.updated_at)),
    }
    answer: dict[str, dict[str, Any]] = {
        name: {
            "limit": limit,
            "used": used,
            "remaining": None if limit is None else limit - used,
        }
        for name, (limit, used) in parts.items()
    }
    limit, used = run.cost_micros_limit, run.cost_micros_used + below.cost_micros
    answer["cost_usd"] = {
        "limit": None if limit is None else format_usd(limit),
        "used": format_usd(used),
        "remaining": None if limit is None else format_usd(limit - used),
    }
    return answer


def serialize_checkpoint(checkpoint: Checkpoint, *, run_code: str) -> dict[str, Any]:
    return {
        "id": str(checkpoint.code),
        "run": run_code,
        "step": checkpoint.step,
        "label": checkpoint.label,
        "state": json.loads(checkpoint.state),
        "created_at": format_timestamp(checkpoint.created_at),
    }


def build_run_url(*, project_slug: str, run: str) -> str:
    return f"{settings.PUBLIC_URL}/p/{project_slug}/runs/{run}/"


def build_review_url(*, project_slug: str, review: str) -> str:
    return f"{settings.PUBLIC_URL}/p/{project_slug}/queue/{review}/"
