"""Caps on open notes and recommendations, for each agent and each project."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from django.db.models import QuerySet

from guidance.services import caps_in_force
from ledger.state import RunState
from reviews import caps


def refuse_at_cap(
    run: RunState,
    kind: Literal["notes", "recommendations"],
    *,
    open_rows: QuerySet[Any],
    actor: str,
    instead: str,
) -> None:
    """Raise if the sender or the project has too many open rows already."""
    cap = getattr(caps_in_force(project_id=run.project_id), kind)
    if not actor.startswith("agent:"):
        cap = replace(cap, agent=None)  # for people only the project's cap counts
    rows = open_rows.filter(project_id=run.project_id)
    reached = caps.reached_cap(cap, agent=rows.filter(actor=actor), project=rows)
    caps.refuse_at_cap(reached, what=f"open {kind}", instead=instead)
