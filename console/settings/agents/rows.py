"""Agents as their page shows them: owner, policy, how they stand, and their keys."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery

from accounts.models import Agent, AgentKey
from console.format import (
    ShownMoment,
    build_future_moment,
    build_past_moment,
    build_past_moment_or_none,
)
from console.people import Person, build_person
from console.runs.sentences.administration import describe_limits
from ledger.models import Run
from reviews.administration.agents.selectors import (
    get_key_state,
    list_agents_with_keys,
)
from reviews.policies.limits.selectors import get_own_limits
from reviews.policies.limits.serializers import serialize_limits
from safetext import make_visible, make_visible_line

PAGE = 50
SOON = timedelta(days=7)
# A key that nobody used for so long may be forgotten somewhere.
UNUSED = timedelta(days=14)
_TONES = {
    "running": ("go", "play"),
    "paused": ("pause", "pause"),
    "stopped": ("stop", "stop"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRow:
    code: str
    name: str
    prefix: str
    scopes: list[str]
    by: str
    made: ShownMoment
    used: ShownMoment | None
    unused: bool
    expires: ShownMoment | None
    state: str
    soon: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRow:
    code: str
    name: str
    description: str
    owner: Person | None
    owner_name: str
    policy: str
    limits: dict[str, Any] | None
    limit_words: str
    disabled: bool
    status: str
    tone: str
    icon: str
    last: ShownMoment | None
    keys: list[KeyRow]


def list_agent_page(
    *, project_id: int, search: str = "", after: str = ""
) -> tuple[list[Agent], bool]:
    """By name, and whether more follow."""
    agents = add_newest_run(list_agents_with_keys(project_id=project_id))
    if search:
        agents = agents.filter(name__icontains=search)
    if after:
        agents = agents.filter(name__gt=after)
    found = list(agents.order_by("name")[: PAGE + 1])
    return found[:PAGE], len(found) > PAGE


def add_newest_run(agents: QuerySet[Agent]) -> QuerySet[Agent]:
    newest = Run.objects.filter(agent=OuterRef("pk")).order_by("-created_at", "-id")
    return agents.annotate(
        run_status=Subquery(newest.values("status")[:1]),
        run_moved=Subquery(newest.values("updated_at")[:1]),
    )


def build_agent_rows(
    agents: Iterable[Agent], *, policies: dict[str, str], at: datetime
) -> list[AgentRow]:
    return [_build_row(agent, policies.get(agent.name, ""), at) for agent in agents]


def _build_row(agent: Agent, policy: str, at: datetime) -> AgentRow:
    status: str = agent.run_status or ""  # type: ignore[attr-defined]
    tone, icon = _TONES.get(status, ("", ""))
    owner = agent.owner
    limits = serialize_limits(get_own_limits(agent))
    return AgentRow(
        code=str(agent.code),
        name=make_visible_line(agent.name),
        description=make_visible(agent.description),
        owner=build_person(owner) if owner else None,
        owner_name=owner.username if owner else "",
        policy=policy,
        limits=limits,
        limit_words=describe_limits(limits) if limits else "",
        disabled=agent.disabled_at is not None,
        status=status,
        tone=tone,
        icon=icon,
        last=build_past_moment_or_none(agent.run_moved, at),  # type: ignore[attr-defined]
        keys=[_build_key_row(key, at) for key in agent.kept_keys],  # type: ignore[attr-defined]
    )


def _build_key_row(key: AgentKey, at: datetime) -> KeyRow:
    maker = key.created_by
    last = key.last_used_at or key.created_at
    return KeyRow(
        code=str(key.code),
        name=make_visible_line(key.name),
        prefix=key.lookup,
        scopes=key.scopes.split(),
        by=make_visible_line(maker.display_name) if maker else "a command",
        made=build_past_moment(key.created_at, at),
        used=build_past_moment_or_none(key.last_used_at, at),
        unused=at - last > UNUSED,
        expires=build_future_moment(key.expires_at, at),
        state=get_key_state(key),
        soon=key.expires_at is not None and key.expires_at - at < SOON,
    )
