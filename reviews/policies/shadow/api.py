"""Operations on drafts beside policies: start, look, stop. People only, never agents."""

from __future__ import annotations

from datetime import timedelta

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from ninja import Path, Query, Router

from accounts.api_auth import (
    get_person,
    get_project,
)
from accounts.models import Role
from accounts.selectors import require_role
from common.paging import ProjectQuery, list_page_after, refuse_unknown_parameters
from common.responses import build_json_response
from reviews.policies.schemas import PolicyName
from reviews.policies.shadow import selectors
from reviews.policies.shadow.schemas import (
    ShadowIn,
    ShadowItemFilters,
    ShadowItemPage,
    ShadowList,
    ShadowResultOut,
    StopIn,
)
from reviews.policies.shadow.services import start_shadow, stop_shadow

# How long it runs unless somebody says until when.
LASTS = timedelta(hours=24)

router = Router(tags=["Policies"])


@router.post("/policies/{name}/shadow", response={201: ShadowResultOut})
def start_policy_shadow(
    request: HttpRequest, name: Path[PolicyName], body: ShadowIn
) -> HttpResponse:
    """Let a draft run beside the version in force: watched, never obeyed. Managers only."""
    person = get_person(request)
    project = get_project(principal=person, slug=body.project)
    require_role(user_id=person.user_id, project_id=project.pk, role=Role.MANAGER)
    at = timezone.now()
    shadow = start_shadow(
        project_id=project.pk,
        name=name,
        number=body.version,
        lasts=LASTS if body.until is None else body.until - at,
        by=person,
        note=body.note,
    )
    stored = selectors.get_shadow(project, str(shadow.code))
    return build_json_response(selectors.serialize_result(stored, at), status=201)


@router.get("/policies/{name}/shadows", response=ShadowList)
def list_policy_shadows(
    request: HttpRequest, name: str, query: Query[ProjectQuery]
) -> HttpResponse:
    """The newest drafts that ran beside this policy, or do now."""
    refuse_unknown_parameters(request.GET, ProjectQuery.model_fields)
    project = get_project(principal=get_person(request), slug=query.project)
    at = timezone.now()
    rows = selectors.list_shadows(project, name)
    items = [selectors.serialize_shadow(row, at) for row in rows]
    return build_json_response({"items": items})


@router.get("/shadows/{shadow}", response=ShadowResultOut)
def get_policy_shadow(request: HttpRequest, shadow: str) -> HttpResponse:
    """What was seen so far, counted by gate and move."""
    found = selectors.get_visible_shadow(person=get_person(request), code=shadow)
    return build_json_response(selectors.serialize_result(found, timezone.now()))


@router.get("/shadows/{shadow}/items", response=ShadowItemPage)
def list_shadow_items(
    request: HttpRequest, shadow: str, filters: Query[ShadowItemFilters]
) -> HttpResponse:
    """Where the draft decides otherwise or could not judge; `next_cursor` leads on."""
    refuse_unknown_parameters(request.GET, ShadowItemFilters.model_fields)
    found = selectors.get_visible_shadow(person=get_person(request), code=shadow)
    wanted = filters.model_dump(exclude={"cursor", "limit"})
    rows = selectors.list_items(found, **wanted)
    page, next_cursor = list_page_after(
        rows, among=found.items.all(), cursor=filters.cursor, limit=filters.limit
    )
    return build_json_response(
        {
            "items": selectors.serialize_items(page),
            "next_cursor": next_cursor,
            "total": rows.count(),
        }
    )


@router.post("/shadows/{shadow}/stop", response=ShadowResultOut)
def stop_policy_shadow(request: HttpRequest, shadow: str, body: StopIn) -> HttpResponse:
    """End it before its time; what was seen stays. Managers only."""
    person = get_person(request)
    found = selectors.get_visible_shadow(person=person, code=shadow)
    require_role(user_id=person.user_id, project_id=found.project_id, role=Role.MANAGER)
    stop_shadow(found, by=person, note=body.note)
    found.refresh_from_db()
    return build_json_response(selectors.serialize_result(found, timezone.now()))
