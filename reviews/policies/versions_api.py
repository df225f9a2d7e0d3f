"""Operations on versions: read them; store one, put one in force (managers only)."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from ninja import Path, Query, Router

from accounts.api_auth import get_person, get_project
from accounts.auth import PersonPrincipal
from accounts.models import Project, Role
from accounts.selectors import require_role
from common.paging import ProjectQuery
from common.responses import build_json_response
from guidance.selectors import find_active_id
from guidance.validation import check_document, check_yaml
from guidance.yaml_documents import write_yaml
from reviews.policies import selectors
from reviews.policies.acts import Outcome
from reviews.policies.api import get_read_project
from reviews.policies.schemas import (
    ActedVersionOut,
    ActivateIn,
    PolicyName,
    VersionIn,
    VersionList,
    VersionNumber,
    WholeVersionOut,
)
from reviews.policies.serializers import serialize_version
from reviews.policies.services import activate_version, create_version, refuse_faults

router = Router(tags=["Policies"])


@router.get("/policies/{name}/versions", response=VersionList)
def list_policy_versions(
    request: HttpRequest, name: str, query: Query[ProjectQuery]
) -> HttpResponse:
    """All versions, the newest first."""
    project = get_read_project(request, query)
    rows = selectors.list_versions(project, name)
    active = find_active_id(project_id=project.pk, name=name)
    items = [serialize_version(row, active=row.pk == active) for row in rows]
    return build_json_response({"items": items})


@router.get("/policies/{name}/versions/{number}", response=WholeVersionOut)
def get_policy_version(
    request: HttpRequest, name: str, number: VersionNumber, query: Query[ProjectQuery]
) -> HttpResponse:
    """One version with what it says, as JSON and as YAML."""
    project = get_read_project(request, query)
    row = selectors.get_version(project, name, number)
    active = find_active_id(project_id=project.pk, name=name)
    document = selectors.read_document(row)
    return build_json_response(
        {
            **serialize_version(row, active=row.pk == active),
            "document": document,
            "yaml": write_yaml(document),
        }
    )


@router.post("/policies/{name}/versions", response={201: ActedVersionOut})
def store_policy_version(
    request: HttpRequest, name: Path[PolicyName], body: VersionIn
) -> HttpResponse:
    """Store a whole document as the next version; it is a draft unless you activate it."""
    person = get_person(request)
    project = get_managed_project(person, body.project)
    if body.yaml is None:
        checked = check_document(body.document)
    else:
        checked = check_yaml(body.yaml)
    refuse_faults(checked.faults)
    outcome = create_version(
        project_id=project.pk,
        name=name,
        document=checked.document,
        note=body.note,
        author=person,
        activate=body.activate,
        apply_to_running=body.apply_to_running,
        based_on=body.based_on,
    )
    return _answer(outcome, status=201)


@router.post(
    "/policies/{name}/versions/{number}/activate",
    response={200: ActedVersionOut, 202: ActedVersionOut},
)
def activate_policy_version(
    request: HttpRequest,
    name: Path[PolicyName],
    number: VersionNumber,
    body: ActivateIn,
) -> HttpResponse:
    """Put a version in force for new runs. Activating an old one restores it."""
    person = get_person(request)
    project = get_managed_project(person, body.project)
    outcome = activate_version(
        project_id=project.pk,
        name=name,
        number=number,
        note=body.note,
        by=person,
        apply_to_running=body.apply_to_running,
        based_on=body.based_on,
    )
    return _answer(outcome, status=200 if outcome.review is None else 202)


def get_managed_project(person: PersonPrincipal, slug: str | None) -> Project:
    project = get_project(principal=person, slug=slug)
    require_role(user_id=person.user_id, project_id=project.pk, role=Role.MANAGER)
    return project


def _answer(outcome: Outcome, *, status: int) -> HttpResponse:
    active = outcome.activation is not None
    version = serialize_version(outcome.version, active=active)
    return build_json_response({**version, "review": outcome.review}, status=status)
