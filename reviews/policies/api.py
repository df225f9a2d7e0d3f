"""Operations on policies: read them, compare them, and check a draft."""

from __future__ import annotations

from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router
from pydantic import Field

from accounts.api_auth import (
    BEARER_OR_SESSION,
    PERSON_ALSO_IN_SESSIONS,
    get_principal,
    get_project,
)
from accounts.models import Project
from common.errors import NotFound
from common.paging import ProjectQuery, refuse_unknown_parameters
from common.responses import build_json_response
from guidance.core.policy.differences import list_differences
from guidance.core.policy.meaning import describe_difference
from guidance.core.policy.schema import POLICY_SCHEMA
from guidance.models import PolicyVersion
from guidance.selectors import find_active_id
from guidance.validation import check_document, check_yaml
from guidance.yaml_documents import write_yaml
from ledger.chain import format_timestamp
from reviews.policies import selectors
from reviews.policies.schemas import (
    DifferenceList,
    PolicyList,
    PolicyOut,
    ValidateIn,
    ValidationOut,
    VersionList,
    WholeVersionOut,
)

router = Router(auth=BEARER_OR_SESSION, tags=["Policies"])
Number = Annotated[int, Field(ge=1, le=2**31 - 1)]


class DifferenceQuery(ProjectQuery):
    """`to` is the newest version unless you say another, `from` the one before it."""

    before: Number | None = Field(None, alias="from")
    after: Number | None = Field(None, alias="to")


@router.get("/policies", response=PolicyList)
def list_policies(request: HttpRequest, query: Query[ProjectQuery]) -> HttpResponse:
    """Each policy with the version of it that is in force."""
    project = _get_project(request, query)
    items = [
        _serialize_policy(project, row) for row in selectors.list_policies(project)
    ]
    return build_json_response({"items": items})


@router.get("/policies/schema.json", auth=None, response=dict[str, Any])
def get_policy_schema(request: HttpRequest) -> HttpResponse:
    """The JSON Schema of policy documents, with descriptions, bounds and defaults."""
    return build_json_response(dict(POLICY_SCHEMA))


@router.post("/policies/validate", auth=PERSON_ALSO_IN_SESSIONS, response=ValidationOut)
def validate_policy(request: HttpRequest, body: ValidateIn) -> HttpResponse:
    """Say everything that is wrong with a draft, and what it would change."""
    project = get_project(principal=get_principal(request), slug=body.project)
    if body.yaml is None:
        checked = check_document(body.document)
    else:
        checked = check_yaml(body.yaml)
    changes: list[dict[str, Any]] = []
    if not checked.faults:
        before = selectors.find_document_in_force(project, body.name)
        changes = _serialize_differences(before, checked.document)
    return build_json_response(
        {
            "ok": not checked.faults,
            "errors": [fault.to_json() for fault in checked.faults],
            "changes": changes,
        }
    )


@router.get("/policies/{name}", response=PolicyOut)
def get_policy(
    request: HttpRequest, name: str, query: Query[ProjectQuery]
) -> HttpResponse:
    """A policy and the version of it that is in force."""
    project = _get_project(request, query)
    found = {row.policy.name: row for row in selectors.list_policies(project)}
    if name not in found:
        raise NotFound
    return build_json_response(_serialize_policy(project, found[name]))


@router.get("/policies/{name}/versions", response=VersionList)
def list_policy_versions(
    request: HttpRequest, name: str, query: Query[ProjectQuery]
) -> HttpResponse:
    """All versions, the newest first."""
    project = _get_project(request, query)
    rows = selectors.list_versions(project, name)
    active = find_active_id(project_id=project.pk, name=name)
    items = [_serialize_version(row, active=row.pk == active) for row in rows]
    return build_json_response({"items": items})


@router.get("/policies/{name}/versions/{number}", response=WholeVersionOut)
def get_policy_version(
    request: HttpRequest, name: str, number: Number, query: Query[ProjectQuery]
) -> HttpResponse:
    """One version with what it says, as JSON and as YAML."""
    project = _get_project(request, query)
    row = selectors.get_version(project, name, number)
    active = find_active_id(project_id=project.pk, name=name)
    document = selectors.read_document(row)
    return build_json_response(
        {
            **_serialize_version(row, active=row.pk == active),
            "document": document,
            "yaml": write_yaml(document),
        }
    )


@router.get("/policies/{name}/diff", response=DifferenceList)
def compare_policy_versions(
    request: HttpRequest, name: str, query: Query[DifferenceQuery]
) -> HttpResponse:
    """What the version `to` says otherwise than the version `from`."""
    refuse_unknown_parameters(request.GET, ("project", "from", "to"))
    project = get_project(principal=get_principal(request), slug=query.project)
    last = query.after or selectors.list_versions(project, name)[0].version
    first = query.before or max(last - 1, 1)
    before, after = (
        selectors.read_document(selectors.get_version(project, name, number))
        for number in (first, last)
    )
    return build_json_response({"items": _serialize_differences(before, after)})


def _get_project(request: HttpRequest, query: ProjectQuery) -> Project:
    refuse_unknown_parameters(request.GET, ProjectQuery.model_fields)
    return get_project(principal=get_principal(request), slug=query.project)


def _serialize_policy(project: Project, row: selectors.ListedPolicy) -> dict[str, Any]:
    active, activation = row.active, row.activation
    return {
        "project": project.slug,
        "name": row.policy.name,
        "version": active.version if active else None,
        "hash": active.hash if active else None,
        "versions": row.versions,
        "note": activation.note if activation else None,
        "by": activation.by.username if activation and activation.by else None,
        "at": format_timestamp(activation.at) if activation else None,
    }


def _serialize_version(row: PolicyVersion, *, active: bool) -> dict[str, Any]:
    return {
        "name": row.name,
        "version": row.version,
        "hash": row.hash,
        "active": active,
        "note": row.note,
        "by": row.created_by.username if row.created_by else None,
        "at": format_timestamp(row.created_at),
    }


def _serialize_differences(
    before: selectors.Document, after: selectors.Document
) -> list[dict[str, Any]]:
    return [
        {
            "path": each.path,
            "before": each.before,
            "after": each.after,
            "meaning": describe_difference(each),
        }
        for each in list_differences(before, after)
    ]
