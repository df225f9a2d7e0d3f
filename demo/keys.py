"""Keys for the agents of the demo and of a simulation, given as a command does."""

from __future__ import annotations

from accounts.models import Agent, AgentKey, Project, User
from demo.agents.profiles import PROFILES
from reviews.administration.agents import keys

DEMO_PROJECT = "demo"


def ensure_demo_agents(project: Project) -> None:
    """For the past, in which no key is needed. They are there before the project's
    administration is recorded, which begins by telling of them."""
    for profile in PROFILES:
        Agent.objects.get_or_create(project=project, name=profile.name)


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
    agents = Agent.objects.filter(project__slug=DEMO_PROJECT, name__in=names)
    for agent in agents.order_by("pk"):
        held = AgentKey.objects.filter(agent=agent, revoked_at=None)
        keys.revoke_keys(agent=agent, by=None, keys=list(held))


def _issue(names: list[str], *, owner: User | None = None) -> dict[str, str]:
    return {
        name: keys.issue_key(name=name, project_slug=DEMO_PROJECT, owner=owner)[1]
        for name in names
    }
