"""Reads: the loop's rows that the caller may see, and its current state."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from django.db.models import Count, Model, QuerySet, Sum
from django.utils import timezone

from accounts.auth import PersonPrincipal, Principal
from accounts.models import Project
from common.errors import NotFound
from common.ids import parse_code
from guidance.core.loop.vocabulary import EMITTING
from guidance.core.money import format_usd
from guidance.services import DEFAULT, get_policy_in_force
from ledger.chain import format_timestamp
from loop.models import Decision, Incident, ProjectLoop, Signal
from loop.runs import get_loop

M = TypeVar("M", bound=Model)
HOUR = timedelta(hours=1)
DECISION_RELATED = ("project", "run", "signal", "policy")


def filter_visible(
    rows: QuerySet[M], *, principal: Principal, slug: str | None = None
) -> QuerySet[M]:
    """Narrow to what an agent sent itself, or to a person's projects, or to one by slug."""
    if isinstance(principal, PersonPrincipal):
        rows = rows.filter(project__membership__user_id=principal.user_id)
    else:
        sender = "signal__actor" if rows.model is Decision else "actor"
        own = {sender: principal.actor}
        rows = rows.filter(project_id=principal.project_id, **own)
    return rows if slug is None else rows.filter(project__slug=slug)


def get_visible(rows: QuerySet[M], *, principal: Principal, code: str) -> M:
    """The row with this id; raises NotFound for those who may not see it."""
    known = parse_code(code)
    row = (
        filter_visible(rows, principal=principal).filter(code=known).first()
        if known
        else None
    )
    if row is None:
        raise NotFound
    return row


def get_decision(*, principal: Principal, code: str) -> Decision:
    """Raises NotFound; where the decision is not made yet, the message says so."""
    decisions = Decision.objects.select_related(*DECISION_RELATED)
    known = parse_code(code)
    if known is not None:
        visible = filter_visible(decisions, principal=principal)
        decision = visible.filter(code=known).first()
        if decision is not None:
            return decision
        signals = filter_visible(Signal.objects.all(), principal=principal)
        if signals.filter(decision_code=known).exists():
            raise NotFound("The loop has not decided this yet: ask again in a moment.")
    raise NotFound


def get_loop_state(project: Project) -> dict[str, Any]:
    """The loop's switch, clock, caps and budget, as the API shows them."""
    at = timezone.now()
    loop = get_loop(project.pk)
    policy = get_policy_in_force(project_id=project.pk, name=DEFAULT)
    section = policy.policy.loop
    used = count_used_this_hour(project.pk, at=at)
    pending = Signal.objects.filter(project_id=project.pk, pending=True)
    oldest = pending.order_by("pk").values_list("received_at", flat=True).first()
    beat, limit = loop.heartbeat_at, section.cost_per_day_micros
    return {
        "project": project.slug,
        "run": str(loop.run.code) if loop.run else None,
        **_describe_switch(loop),
        "decider": section.decider,
        "heartbeat_at": format_timestamp(beat) if beat else None,
        "heartbeat_age_s": int((at - beat).total_seconds()) if beat else None,
        "heartbeat_s": section.heartbeat_s,
        "pending_signals": pending.count(),
        "oldest_pending_age_s": (
            max(0, int((at - oldest).total_seconds())) if oldest else None
        ),
        "caps": [
            {
                "action": action,
                "used": used[action],
                "limit": section.caps_per_hour[action],
            }
            for action in EMITTING
        ],
        "cost_today": {
            "used": format_usd(sum_spent_today(project.pk, at=at)),
            "limit": None if limit is None else format_usd(limit),
        },
        "open_incidents": Incident.objects.filter(
            project_id=project.pk, resolved_at__isnull=True
        ).count(),
        "policy": policy.build_stamp(),
    }


def count_used_this_hour(project_id: int, *, at: datetime) -> Counter[str]:
    """Actions emitted or waiting for approval, since both count against the cap."""
    counts = (
        Decision.objects.filter(project_id=project_id, counted_at__gt=at - HOUR)
        .values_list("action")
        .annotate(count=Count("pk"))
    )
    return Counter(dict(counts))


def sum_spent_today(project_id: int, *, at: datetime) -> int:
    spent = Decision.objects.filter(
        project_id=project_id, cost_micros__gt=0, decided_at__gte=get_midnight(at)
    ).aggregate(total=Sum("cost_micros"))["total"]
    return spent or 0


def get_midnight(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def _describe_switch(loop: ProjectLoop) -> dict[str, Any]:
    return {
        "paused": loop.paused_at is not None,
        "paused_by": loop.paused_by.username if loop.paused_by else None,
        "paused_reason": loop.paused_reason,
        "paused_at": format_timestamp(loop.paused_at) if loop.paused_at else None,
    }
