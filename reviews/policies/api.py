"""Operations on policies: read them, compare them, and check a draft."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router
from pydantic import Field

from accounts.api_auth import (
    get_principal,
    get_project,
)
from accounts.models import Project
from common.errors import NotFound
from common.paging import ProjectQuery, refuse_unknown_parameters
from common.responses import build_json_response
from guidance.core.policy.schema import POLICY_SCHEMA
from guidance.validation import check_document, check_yaml
from reviews.policies import selectors
from reviews.policies.schemas import (
    DifferenceList,
    PolicyList,
    PolicyOut,
    ValidateIn,
    ValidationOut,
    VersionNumber,
)
from reviews.policies.serializers import (
    serialize_differences,
    serialize_policy,
)

router = Router(tags=["Policies"])


class DifferenceQuery(ProjectQuery):
    """`to` is the newest version unless you say another, `from` the one before it."""

    before: VersionNumber | None = Field(None, alias="from")
    after: VersionNumber | None = Field(None, alias="to")


@router.get("/policies", response=PolicyList)
def list_policies(request: HttpRequest, query: Query[ProjectQuery]) -> HttpResponse:
    """Each policy with the version of it that is in force."""
    project = get_read_project(request, query)
    items = [serialize_policy(project, row) for row in selectors.list_policies(project)]
    return build_json_response({"items": items})


@router.get("/policies/schema.json", response=dict[str, Any])
def get_policy_schema(request: HttpRequest) -> HttpResponse:
    """The JSON Schema of policy documents, with descriptions, bounds and defaults."""
    return build_json_response(dict(POLICY_SCHEMA))


@router.post("/policies/validate", response=ValidationOut)
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
        changes = serialize_differences(before, checked.document)
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
    project = get_read_project(request, query)
    found = {row.policy.name: row for row in selectors.list_policies(project)}
    if name not in found:
        raise NotFound
    return build_json_response(serialize_policy(project, found[name]))


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
    return build_json_response({"items": serialize_differences(before, after)})


def get_read_project(request: HttpRequest, query: ProjectQuery) -> Project:
    """The project of a request that has no other parameter."""
    refuse_unknown_parameters(request.GET, ProjectQuery.model_fields)
    return get_project(principal=get_principal(request), slug=query.project)
