"""Reads: what a person may see and do in which project."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.db.models import QuerySet

from accounts.models import (
    SYSTEM_AGENTS,
    Agent,
    Membership,
    PersonalToken,
    Project,
    Role,
    User,
)
from common.errors import Forbidden, NotFound


def list_projects(*, user_id: int) -> QuerySet[Project]:
    return Project.objects.filter(membership__user_id=user_id).order_by("slug")


def get_role(*, user_id: int, project_id: int) -> Role:
    """The person's role; for an outsider the project does not exist."""
    role = (
        Membership.objects.filter(user_id=user_id, project_id=project_id)
        .values_list("role", flat=True)
        .first()
    )
    if role is None:
        raise NotFound
    return Role(role)


def is_member(*, user_id: int, project_id: int) -> bool:
    return Membership.objects.filter(user_id=user_id, project_id=project_id).exists()


def list_agents(*, project_id: int) -> QuerySet[Agent]:
    """Agents with their owners, by name; the system loop is nobody's."""
    agents = Agent.objects.filter(project_id=project_id).exclude(name__in=SYSTEM_AGENTS)
    return agents.select_related("owner").order_by("name")


def list_managers(*, project_id: int) -> list[User]:
    """Everybody with the rights of a manager in this project, by name."""
    roles = [role for role in Role if role.includes(Role.MANAGER)]
    people = User.objects.filter(
        membership__project_id=project_id, membership__role__in=roles, is_active=True
    )
    return list(people.order_by("username"))


def require_role(*, user_id: int, project_id: int, role: Role) -> None:
    check_role(get_role(user_id=user_id, project_id=project_id), role)


def check_role(held: Role, role: Role) -> None:
    """Raise Forbidden unless the role that is held includes the one that is needed."""
    if not held.includes(role):
        raise Forbidden(f"This needs the role {role.value}; yours is {held.value}.")


def require_sight(*, user_id: int, project_id: int) -> None:
    """For what managers and auditors see, and reviewers do not."""
    held = get_role(user_id=user_id, project_id=project_id)
    if not held.sees_all:
        raise Forbidden(f"Managers and auditors see this; your role is {held.value}.")


def list_token_levels(*, token_ids: Sequence[int]) -> Iterator[list[int]]:
    """These tokens, then those made with them, then those made with these, and so on.

    Each level is read when the one before it has been dealt with.
    """
    level = list(token_ids)
    while level:
        yield level
        children = PersonalToken.objects.filter(parent_id__in=level)
        level = list(children.values_list("pk", flat=True))
