"""Keys for the agents of the demo and of a simulation, straight from the database."""

from __future__ import annotations

from accounts.models import AgentKey, User
from accounts.services import issue_agent_key, revoke_agent_key
from demo.agents.profiles import PROFILES

DEMO_PROJECT = "demo"


def issue_demo_keys(*, owner: User | None = None) -> dict[str, str]:
    """Agent name → fresh key. Keys of earlier starts are revoked: nobody has them.

    An owner is named where there is a first person; later starts leave it as it is.
    """
    names = [profile.name for profile in PROFILES]
    revoke_keys(names)
    return _issue(names, owner=owner)


def issue_simulation_keys(count: int) -> dict[str, str]:
    """Agents of their own, so that a running demo keeps its keys."""
    return _issue([f"sim-{number:03}" for number in range(1, count + 1)])


def revoke_keys(names: list[str]) -> None:
    """Let go of every key that these agents of the demo project hold."""
    for key in AgentKey.objects.filter(
        agent__project__slug=DEMO_PROJECT, agent__name__in=names, revoked_at=None
    ):
        revoke_agent_key(key=key)


def _issue(names: list[str], *, owner: User | None = None) -> dict[str, str]:
    return {
        name: issue_agent_key(name=name, project_slug=DEMO_PROJECT, owner=owner)[1]
        for name in names
    }
