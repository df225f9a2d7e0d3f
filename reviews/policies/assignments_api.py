"""Operations on assignments: which runs a policy is for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router

from accounts.api_auth import (
    get_person,
    get_principal,
    get_project,
)
from accounts.models import Role
from accounts.selectors import require_role
from common.paging import ProjectQuery, refuse_unknown_parameters
from common.responses import build_json_response
from guidance.core.policy.assignments import Assignment, Match
from reviews.policies.assignments import (
    list_assignments,
    preview_assignments,
    refuse_wrong,
    replace_assignments,
)
from reviews.policies.schemas import AssignmentIn, AssignmentOut

router = Router(tags=["Policies"])


class AssignmentQuery(ProjectQuery):
    """`preview` adds which runs of the last week each would have taken."""

    preview: bool = False


@router.get("/policies/assignments", response=list[AssignmentOut], exclude_unset=True)
def list_policy_assignments(
    request: HttpRequest, query: Query[AssignmentQuery]
) -> HttpResponse:
    """Which policy which runs get: the first that fits wins, else `default`."""
    refuse_unknown_parameters(request.GET, AssignmentQuery.model_fields)
    project = get_project(principal=get_principal(request), slug=query.project)
    assignments = list_assignments(project.pk)
    return build_json_response(
        _serialize(project.pk, assignments, preview=query.preview)
    )


@router.put(
    "/policies/assignments",
    response=list[AssignmentOut],
    exclude_unset=True,
)
def replace_policy_assignments(
    request: HttpRequest, query: Query[AssignmentQuery], body: list[AssignmentIn]
) -> HttpResponse:
    """Replace the whole list. With `preview` nothing is stored. Managers only."""
    refuse_unknown_parameters(request.GET, AssignmentQuery.model_fields)
    person = get_person(request)
    project = get_project(principal=person, slug=query.project)
    require_role(user_id=person.user_id, project_id=project.pk, role=Role.MANAGER)
    assignments = [
        Assignment(match=Match(**each.match.model_dump()), policy=each.policy)
        for each in body
    ]
    if query.preview:
        refuse_wrong(project.pk, assignments)
    else:
        replace_assignments(project_id=project.pk, by=person, assignments=assignments)
    return build_json_response(
        _serialize(project.pk, assignments, preview=query.preview)
    )


def _serialize(
    project_id: int, assignments: Sequence[Assignment], *, preview: bool
) -> list[dict[str, Any]]:
    if preview:
        return preview_assignments(project_id, assignments)
    return [each.to_json() for each in assignments]
