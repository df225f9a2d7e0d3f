"""Operations for halts: begin, list and release them."""

from __future__ import annotations

from typing import Literal

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router

from accounts.api_auth import (
    get_person,
    get_project,
)
from common.paging import (
    PageQuery,
    ProjectQuery,
    list_page_after,
    refuse_unknown_parameters,
)
from common.responses import build_json_response
from reviews.halts.schemas import HaltIn, HaltOut, HaltPage, ReleaseIn, serialize_halt
from reviews.halts.selectors import get_visible_halt, list_visible_halts
from reviews.halts.services import submit_halt, submit_release
from reviews.selectors import get_visible_run

router = Router(tags=["Halts"])


class HaltFilters(PageQuery):
    state: Literal["standing", "released"] | None = None


@router.get("/halts", response=HaltPage)
def list_halts(request: HttpRequest, filters: Query[HaltFilters]) -> HttpResponse:
    """What is halted, and what was, newest first; `next_cursor` leads on."""
    person = get_person(request)
    refuse_unknown_parameters(request.GET, HaltFilters.model_fields)
    rows = visible = list_visible_halts(user_id=person.user_id)
    if filters.state is not None:
        rows = rows.filter(released_at__isnull=filters.state == "standing")
    page, next_cursor = list_page_after(
        rows, among=visible, cursor=filters.cursor, limit=filters.limit
    )
    items = [serialize_halt(row) for row in page]
    return build_json_response({"items": items, "next_cursor": next_cursor})


@router.post("/halts", response={201: HaltOut})
def begin_halt(
    request: HttpRequest, query: Query[ProjectQuery], body: HaltIn
) -> HttpResponse:
    """Stop everything of the scope at once: steps, calls, claims and new runs are 409
    `halted` until a manager releases it, and deadlines stand still."""
    refuse_unknown_parameters(request.GET, ProjectQuery.model_fields)
    person = get_person(request)
    if body.scope.run is not None and query.project is None:
        run = get_visible_run(user_id=person.user_id, code=body.scope.run)
        project_id = run.project_id
    else:
        project_id = get_project(principal=person, slug=query.project).pk
    row = submit_halt(
        person=person, project_id=project_id, scope=body.scope, reason=body.reason
    )
    row = get_visible_halt(user_id=person.user_id, code=str(row.code))
    return build_json_response(serialize_halt(row), status=201)


@router.delete("/halts/{halt}", response=HaltOut)
def release_halt(request: HttpRequest, halt: str, body: ReleaseIn) -> HttpResponse:
    """Let it go on, but for what `keep` names. Managers only. What was open gets the time
    back for which it was halted."""
    row = submit_release(
        person=get_person(request), code=halt, reason=body.reason, keep=body.keep
    )
    return build_json_response(serialize_halt(row))
