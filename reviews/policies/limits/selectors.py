"""Read what a project and its agents have used of the limits that their runs share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from accounts.models import SYSTEM_POLICIES, Agent, Project
from accounts.selectors import list_agents
from guidance.core.policy.assignments import Match
from guidance.core.policy.limits import UNLIMITED, take_stricter
from guidance.core.runs.shared_limits import PARTS
from guidance.core.runs.usage import Budget
from guidance.selectors import PolicyChoice, get_policy
from guidance.services import get_policy_choice
from ledger.models import Entry, SharedUse
from ledger.writer.run_writes import Key, build_scope_keys, list_periods
from ledger.writer.system_runs import find_newest_run


@dataclass(frozen=True, slots=True, kw_only=True)
class PartUse:
    """One part of a limit. `limit` is what holds now, with `extra` in it, which was given
    on top for this day or month; None where nothing is limited."""

    part: str
    limit: int | None
    extra: int
    used: int

    @property
    def share(self) -> float | None:
        if self.limit is None:
            return None
        return self.used / self.limit if self.limit else 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeUse:
    """What is used in one scope, against the limits of the policy that sets them, or the
    agent's own (`has_own`) where those are stricter; `policy` is None where no policy limits
    it."""

    scope: str
    agent: Agent | None
    period: str
    policy: str | None
    parts: tuple[PartUse, ...]
    has_own: bool = False

    @property
    def share(self) -> float | None:
        """Of the part that is nearest to its limit."""
        return max(
            (each.share for each in self.parts if each.share is not None), default=None
        )


def list_project_use(project: Project, *, at: datetime) -> list[ScopeUse]:
    """Of the project this day and this month."""
    keys = build_scope_keys(agent_id=None, project_id=project.pk, at=at)
    rows = _read_rows("project", [project.pk], [period for *_, period in keys.values()])
    policies = list_limiting_policies(project)
    return [
        use
        for scope, key in keys.items()
        for use in _build_uses(scope, key, rows=rows, policies=policies)
    ]


def list_agents_with_use(project: Project, *, at: datetime) -> QuerySet[Agent]:
    """Agents that have used something today, or been given more."""
    day, _ = list_periods(at)
    counted = SharedUse.objects.filter(scope="agent", period=day)
    return list_agents(project_id=project.pk).filter(pk__in=counted.values("owner"))


def list_agent_use(
    project: Project, agents: Sequence[Agent], *, at: datetime
) -> list[ScopeUse]:
    """Of each of these agents today, in their order."""
    day, _ = list_periods(at)
    rows = _read_rows("agent", [agent.pk for agent in agents], [day])
    choice = get_policy_choice(project_id=project.pk)
    policies = _list_limits(choice)
    return [
        use
        for agent in agents
        for use in _build_uses(
            "agent_day",
            ("agent", agent.pk, day),
            rows=rows,
            policies={
                name: limits
                for name, limits in policies.items()
                if name in list_agent_policies(choice, agent.name)
            },
            agent=agent,
        )
    ]


def get_own_limits(agent: Agent) -> Budget:
    """What its runs may use in a day, whatever policies say."""
    limits = {part: getattr(agent, f"{part}_limit") for part in PARTS}
    return Budget(time_ms=None, **limits)


def list_agent_policies(choice: PolicyChoice, agent: str) -> frozenset[str]:
    """Those that a run of this agent may get when it begins."""
    if choice.agents_choose:
        return frozenset(choice.active)
    found = set()
    for assignment in choice.assignments:
        match = assignment.match
        if match.agent in ("", agent):
            found.add(assignment.policy)
        if match == Match(agent=agent):  # it takes every run that is left
            return frozenset(found)
    return frozenset({*found, choice.default})


def list_scope_use(
    project: Project, scope: str, *, agent: Agent | None, at: datetime
) -> list[ScopeUse]:
    """The limits of one scope as they are now; of an agent's day only with one."""
    if scope == "agent_day":
        return list_agent_use(project, [agent] if agent else [], at=at)
    return [use for use in list_project_use(project, at=at) if use.scope == scope]


def list_raises(project: Project, *, limit: int) -> list[Entry]:
    """The newest acts that gave more, from the chain of the project's policies."""
    chain = find_newest_run(project.pk, SYSTEM_POLICIES)
    if chain is None:
        return []
    return list(chain.entries.filter(type="limit.raised").order_by("-seq")[:limit])


def list_limiting_policies(project: Project) -> dict[str, Mapping[str, Budget]]:
    """By the name of each policy in force: what it limits in each scope. The project's
    default is the first."""
    return _list_limits(get_policy_choice(project_id=project.pk))


def _list_limits(choice: PolicyChoice) -> dict[str, Mapping[str, Budget]]:
    return {
        name: {
            scope: getattr(get_policy(version).policy.limits, scope)
            for scope in ("agent_day", "project_day", "project_month")
        }
        for name, version in sorted(
            choice.active.items(),
            key=lambda each: (each[0] != choice.default, each[0]),
        )
    }


def _read_rows(
    scope: str, owners: Sequence[int], periods: Sequence[str]
) -> dict[Key, SharedUse]:
    found = SharedUse.objects.filter(scope=scope, owner__in=owners, period__in=periods)
    return {(row.scope, row.owner, row.period): row for row in found}


def _build_uses(
    scope: str,
    key: Key,
    *,
    rows: Mapping[Key, SharedUse],
    policies: Mapping[str, Mapping[str, Budget]],
    agent: Agent | None = None,
) -> Iterator[ScopeUse]:
    """One for each policy that limits this scope; one without where none does."""
    limiting: dict[str | None, Budget] = {
        name: limits[scope]
        for name, limits in policies.items()
        if limits[scope] != UNLIMITED
    }
    row = rows.get(key) or SharedUse()
    own = get_own_limits(agent) if agent else UNLIMITED
    for policy, set_by_policy in (limiting or {None: UNLIMITED}).items():
        budget = take_stricter(set_by_policy, own)
        yield ScopeUse(
            scope=scope,
            agent=agent,
            period=key[2],
            policy=policy,
            parts=tuple(_build_part(part, row, budget) for part in PARTS),
            has_own=own != UNLIMITED,
        )


def _build_part(part: str, row: SharedUse, budget: Budget) -> PartUse:
    limit: int | None = getattr(budget, part)
    extra: int = getattr(row, f"{part}_extra")
    return PartUse(
        part=part,
        limit=None if limit is None else limit + extra,
        extra=extra,
        used=getattr(row, part),
    )
