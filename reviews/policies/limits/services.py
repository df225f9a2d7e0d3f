"""Give more of a limit that runs share: for today or this month, or for good."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from accounts.auth import PersonPrincipal
from accounts.models import Agent, Project
from accounts.selectors import list_agents
from common.errors import Invalid
from guidance.core.policy.drafts import raise_limits
from guidance.core.runs.shared_limits import PARTS
from guidance.core.runs.usage import Usage
from reviews.policies.acts import Outcome
from reviews.policies.chain import perform
from reviews.policies.limits.raises import RaiseLimit
from reviews.policies.limits.selectors import get_own_limits, list_limiting_policies
from reviews.policies.selectors import find_document_in_force
from reviews.policies.services import create_version

AGENT_DAY = "agent_day"
# As the API names the parts of a limit.
PART_FIELDS = {
    "tokens": "tokens",
    "tool_calls": "tool_calls",
    "cost_micros": "cost_usd",
}
_WORDS = {"tokens": "tokens", "tool_calls": "tool calls", "cost_micros": "cost"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Raise:
    """What a manager wants: `more` comes on top of the limits of this scope."""

    scope: str
    more: Usage
    reason: str
    agent: str | None = None


def raise_for_period(
    *, project: Project, person: PersonPrincipal, wanted: Raise
) -> Agent | None:
    """More for the day or month that it is. Returns the agent whose limit it was."""
    agent = _find_agent(project, wanted)
    limited = list_limiting_policies(project).values()
    own = [get_own_limits(agent)] if agent else []
    _refuse_unlimited(wanted, [*own, *(limits[wanted.scope] for limits in limited)])
    perform(
        project.pk,
        lambda run: RaiseLimit(
            run_code=run,
            person=person,
            scope=wanted.scope,
            agent=agent,
            more=wanted.more,
            reason=wanted.reason,
        ),
    )
    return agent


def raise_for_good(
    *, project: Project, person: PersonPrincipal, wanted: Raise, policy: str
) -> Outcome:
    """The next version of a policy, with higher limits, in force for runs in progress as
    well; where the policy asks for four eyes, once a second manager has approved it."""
    limits = list_limiting_policies(project).get(policy)
    if limits is None:
        raise _refuse("policy", "no policy of this name is in force")
    _refuse_unlimited(wanted, [limits[wanted.scope]])
    document = find_document_in_force(project, policy)
    return create_version(
        project_id=project.pk,
        name=policy,
        document=raise_limits(document, scope=wanted.scope, more=wanted.more),
        note=wanted.reason,
        author=person,
        activate=True,
        apply_to_running=True,
    )


def _find_agent(project: Project, wanted: Raise) -> Agent | None:
    if wanted.scope != AGENT_DAY:
        if wanted.agent is not None:
            raise _refuse("agent", "only a limit of an agent's day names one")
        return None
    if wanted.agent is None:
        raise _refuse("agent", "say whose limit of the day it is")
    agent = list_agents(project_id=project.pk).filter(name=wanted.agent).first()
    if agent is None:
        raise _refuse("agent", "no agent of this name")
    return agent


def _refuse_unlimited(wanted: Raise, budgets: list[Any]) -> None:
    """There has to be something to raise, and a limit of each part that is raised."""
    parts = [part for part in PARTS if getattr(wanted.more, part)]
    if not parts:
        raise _refuse("tokens", "say how much more: tokens, tool calls or cost")
    for part in parts:
        if all(getattr(budget, part) is None for budget in budgets):
            message = f"{_WORDS[part]} are not limited here: there is nothing to raise"
            raise _refuse(PART_FIELDS[part], message.replace("cost are", "cost is"))


def _refuse(name: str, message: str) -> Invalid:
    return Invalid(f"{name}: {message}.", errors=[{"loc": [name], "message": message}])
