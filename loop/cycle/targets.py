"""Targets: the rows that an action would change, read under the project's lock."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

from common.ids import parse_code
from guidance.core.loop.alerts import Standing
from guidance.core.loop.proposals import Proposal
from guidance.core.loop.section import LoopSection
from guidance.models import PolicyVersion
from loop.cycle.drafting import find_changed_policy
from loop.models import (
    Incident,
    Note,
    NoteState,
    ProjectLoop,
    Recommendation,
    RecommendationState,
)
from loop.selectors import get_midnight


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionTarget:
    """Notes by their codes; or a recommendation with the version in force of the
    policy that it changes; or the newest incident of a condition, and what is known of it."""

    notes: tuple[str, ...] = ()
    recommendation: Recommendation | None = None
    policy: PolicyVersion | None = None
    incident: Incident | None = None
    standing: Standing | None = None

    @property
    def claimable(self) -> tuple[str, ...]:
        if self.recommendation is not None:
            return (str(self.recommendation.code),)
        return self.notes


def load_target(
    loop: ProjectLoop, section: LoopSection, proposal: Proposal, *, at: datetime
) -> ActionTarget:
    match proposal.action:
        case "process_notes":
            return _load_notes(loop.pk, limit=section.notes_at_once)
        case "apply_retro_recommendation":
            named = proposal.parameters.get("recommendation")
            return _load_recommendation(loop.pk, named)
        case "emit_alert":
            return _load_incident(loop, proposal.parameters["condition"], at=at)
        case _:
            return ActionTarget()


def _load_notes(project_id: int, *, limit: int) -> ActionTarget:
    notes = Note.objects.filter(project_id=project_id, state=NoteState.QUEUED)
    codes = notes.order_by("pk").values_list("code", flat=True)[:limit]
    return ActionTarget(notes=tuple(map(str, codes)))


def _load_recommendation(project_id: int, named: str | None) -> ActionTarget:
    """The oldest pending one, or the one that the proposal names."""
    pending = Recommendation.objects.filter(
        project_id=project_id, state=RecommendationState.PENDING
    )
    if named is not None:
        code = parse_code(named)
        pending = pending.filter(code__in=[code] if code else [])
    row = pending.order_by("pk").first()
    if row is None:
        return ActionTarget()
    policy = find_changed_policy(json.loads(row.change), project_id=project_id)
    return ActionTarget(recommendation=row, policy=policy)


def _load_incident(loop: ProjectLoop, condition: str, *, at: datetime) -> ActionTarget:
    incidents = Incident.objects.filter(project_id=loop.pk)
    newest = incidents.filter(condition=condition).order_by("-pk").first()
    today = get_midnight(at)
    standing = Standing(
        code=str(newest.code) if newest else None,
        is_open=newest is not None and newest.resolved_at is None,
        content=(newest.severity, newest.title, newest.detail) if newest else None,
        changed_today=_is_since(newest.changed_at if newest else None, today),
        told_well_today=_is_since(loop.well_told_at, today),
        others_open=incidents.filter(resolved_at__isnull=True).count(),
    )
    return ActionTarget(incident=newest, standing=standing)


def _is_since(moment: datetime | None, start: datetime) -> bool:
    return moment is not None and moment >= start
