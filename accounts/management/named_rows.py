"""People, agents and projects as commands name them, and how an agent reads."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.core.validators import validate_slug

from accounts.models import Agent, Project, User


def get_user_named(name: str) -> User:
    user = User.objects.filter(username=name).first()
    if user is None:
        raise CommandError(f"There is nobody named {name!r}.")
    return user


def get_project_named(slug: str) -> Project:
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        raise CommandError(f"There is no project {slug!r}.")
    return project


def get_agent_named(name: str, slug: str) -> Agent:
    agents = Agent.objects.select_related("owner", "project")
    agent = agents.filter(name=name, project__slug=slug).first()
    if agent is None:
        raise CommandError(f"There is no agent {name!r} in the project {slug!r}.")
    return agent


def render_agent(agent: Agent) -> str:
    return f"{agent.name}  " + (f"owner {agent.owner}" if agent.owner else "no owner")


def check_names(name: str, project: str) -> None:
    if not name.strip() or len(name) > 120 or not name.isprintable():
        raise CommandError("NAME must be 1 to 120 printable characters.")
    try:
        validate_slug(project)
    except ValidationError:
        raise CommandError(
            "--project takes a slug: letters, digits, - and _ only."
        ) from None
    if len(project) > 64:
        raise CommandError("--project takes at most 64 characters.")
