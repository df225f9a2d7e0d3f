"""Whose runs a list is of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from django.db.models import Model, Q, QuerySet

from accounts.auth import AgentPrincipal, Principal
from accounts.models import SYSTEM_SETTINGS, Membership, Role

M = TypeVar("M", bound=Model)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The runs of some projects; of one agent in them, if it asks itself.

    Who changed what is shown of the projects in `administration_of` alone.
    """

    project_ids: tuple[int, ...]
    agent_id: int | None = None
    administration_of: tuple[int, ...] = ()

    def filter_rows(self, rows: QuerySet[M]) -> QuerySet[M]:
        """Of runs, or of whatever else has a project and an agent."""
        if self.agent_id is not None:
            rows = rows.filter(agent_id=self.agent_id)
        if len(self.project_ids) == 1:
            return rows.filter(project_id=self.project_ids[0])
        return rows.filter(project_id__in=self.project_ids)

    def hide_administration(self, rows: QuerySet[M]) -> QuerySet[M]:
        """Of runs, or of their ends: without what the viewer may not see."""
        shown = Q(project_id__in=self.administration_of)
        return rows.filter(~Q(intent=SYSTEM_SETTINGS) | shown)


def get_scope(principal: Principal) -> Scope:
    """An agent sees its own runs, a person those of their projects."""
    if isinstance(principal, AgentPrincipal):
        return Scope(project_ids=(principal.project_id,), agent_id=principal.agent_id)
    found = Membership.objects.filter(user_id=principal.user_id)
    roles = dict(found.values_list("project_id", "role"))
    return Scope(
        project_ids=tuple(roles),
        administration_of=tuple(
            project_id for project_id, role in roles.items() if Role(role).sees_all
        ),
    )
