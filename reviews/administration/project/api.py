"""Operations on projects themselves."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router

from accounts.api_auth import get_person, get_project
from accounts.models import Role
from accounts.selectors import get_role, require_role
from common.paging import ProjectQuery, refuse_unknown_parameters
from common.responses import build_json_response
from reviews.administration.project import services
from reviews.administration.project.schemas import (
    ProjectChange,
    ProjectIn,
    ProjectOut,
    serialize_project,
)

router = Router(tags=["People"])


@router.get("/project", response=ProjectOut)
def get_own_project(request: HttpRequest, query: Query[ProjectQuery]) -> HttpResponse:
    """What a project is called, what it decides for its agents, and your role in it."""
    refuse_unknown_parameters(request.GET, ProjectQuery.model_fields)
    person = get_person(request)
    project = get_project(principal=person, slug=query.project)
    role = get_role(user_id=person.user_id, project_id=project.pk)
    return build_json_response(serialize_project(project, role=role.value))


@router.patch("/project", response=ProjectOut)
def change_project(
    request: HttpRequest, query: Query[ProjectQuery], body: ProjectChange
) -> HttpResponse:
    """Change what is given; the rest stays as it is. Admins only."""
    refuse_unknown_parameters(request.GET, ProjectQuery.model_fields)
    person = get_person(request)
    project = get_project(principal=person, slug=query.project)
    require_role(user_id=person.user_id, project_id=project.pk, role=Role.ADMIN)
    changed = services.change_project(
        project_id=project.pk,
        by=person,
        wanted=body.list_wanted(),
    )
    return build_json_response(serialize_project(changed, role=Role.ADMIN.value))


@router.post("/projects", response={201: ProjectOut})
def make_project(request: HttpRequest, body: ProjectIn) -> HttpResponse:
    """Another project, with you as its admin. For admins of any project."""
    project = services.create_project(
        by=get_person(request), name=body.name, slug=body.slug
    )
    answer = serialize_project(project, role=Role.ADMIN.value)
    return build_json_response(answer, status=201)
