"""What a person's token may decide from inside an agent's session: never for its own agent.

A session is what the program says of itself. It can only add a refusal, so whoever names
another agent's session, or none that is known, gains nothing by it.
"""

from __future__ import annotations

import logging
from typing import Protocol

from accounts.auth import FROM_SESSION, PersonPrincipal
from accounts.models import SYSTEM_AGENTS, Agent
from common.errors import Forbidden
from guidance.core.policy import ReviewRules
from guidance.selectors import get_policy
from ledger.models import Run

logger = logging.getLogger(__name__)
_SHOWN = 100  # characters of a header into which anybody may write anything
_INSTEAD = "Do it in the console, or ask another person."
OWN_AGENT = (
    "This comes from inside an agent's session, and the agent that asked is your own. "
    f"{_INSTEAD}"
)
OWN_SESSION = f"This comes from the session of the agent that asked. {_INSTEAD}"
NO_OWNER = (
    "This comes from inside an agent's session, and the agent that asked has no owner: "
    f"it may be the same one. {_INSTEAD}"
)


class IsSessionOf(Protocol):
    """Whether the session that a program names is one of this agent."""

    def __call__(self, session: str, *, agent_id: int) -> bool: ...


_lookups: list[IsSessionOf] = []


def register_sessions(is_session_of: IsSessionOf) -> None:
    """For apps at start-up that know the sessions of agents."""
    _lookups.append(is_session_of)


def refuse_from_session(
    session: str | None, *, run: Run, person: PersonPrincipal
) -> None:
    """An agent that finds a person's token does not answer what a person is asked.

    Another agent's reviews may be ruled on there where the policy of the run says so, its
    own only where the policy says that as well. `session` is None outside of one.
    """
    if session is None:
        return
    agent = Agent.objects.get(pk=run.agent_id)
    rules = get_policy(run.policy_id).policy.reviews
    refusal = _find_refusal(session, agent=agent, rules=rules, person=person)
    if refusal is None:
        return
    logger.warning(
        "Refused to %s from inside the agent's session %r: run %s of the agent %s",
        person.username,
        session[:_SHOWN],
        run.code,
        agent.name,
    )
    raise Forbidden(refusal)


def _find_refusal(
    session: str, *, agent: Agent, rules: ReviewRules, person: PersonPrincipal
) -> str | None:
    if not rules.rulings_from_agents:
        return FROM_SESSION
    # Nobody has a key of the system loop, so no session is its own.
    if not rules.refuse_own_agents or agent.name in SYSTEM_AGENTS:
        return None
    if agent.owner_id is None:
        return NO_OWNER
    if agent.owner_id == person.user_id:
        return OWN_AGENT
    if any(is_session_of(session, agent_id=agent.pk) for is_session_of in _lookups):
        return OWN_SESSION
    return None
