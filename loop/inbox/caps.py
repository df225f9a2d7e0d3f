"""Caps on open notes and recommendations, for each agent and each project."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from django.db.models import QuerySet

from guidance.core.policy.caps import CapReached
from guidance.services import get_caps_in_force
from ledger.state import RunState
from reviews.caps import get_reached_cap


def find_reached_cap(
    run: RunState,
    kind: Literal["notes", "recommendations"],
    *,
    open_rows: QuerySet[Any],
    actor: str,
) -> CapReached | None:
    """The cap of the sender or the project that keeps one more row from being opened."""
    cap = getattr(get_caps_in_force(project_id=run.project_id), kind)
    if not actor.startswith("agent:"):
        cap = replace(cap, agent=None)  # for people only the project's cap counts
    rows = open_rows.filter(project_id=run.project_id)
    return get_reached_cap(
        cap,
        agent=rows.filter(actor=actor),
        project=rows,
        project_id=run.project_id,
    )
