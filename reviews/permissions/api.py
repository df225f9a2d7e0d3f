"""Operations for standing permissions: list and revoke them."""

from __future__ import annotations

import json
from typing import Any, Literal

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from ninja import Query, Router

from accounts.api_auth import get_person
from common.paging import PageQuery, list_page_after, refuse_unknown_parameters
from common.responses import build_json_response
from guidance.core.tools.permission_shapes import MAY_CHANGE
from ledger.chain import format_timestamp
from reviews.models import Permission
from reviews.permissions.standing import (
    filter_standing,
    get_permission_state,
    submit_revocation,
)
from reviews.schemas.reviews import PermissionOut, PermissionPage

router = Router(tags=["Permissions"])


class PermissionFilters(PageQuery):
    state: Literal["standing", "ended"] | None = None


@router.get("/permissions", response=PermissionPage)
def list_permissions(
    request: HttpRequest, filters: Query[PermissionFilters]
) -> HttpResponse:
    """What need not be asked again, newest first; `next_cursor` leads on."""
    person = get_person(request)
    refuse_unknown_parameters(request.GET, PermissionFilters.model_fields)
    rows = visible = Permission.objects.select_related(
        "project", "run", "review", "granted_by", "revoked_by"
    ).filter(project__membership__user_id=person.user_id)
    if filters.state is not None:
        still = filter_standing(at=timezone.now())
        rows = (
            rows.filter(still) if filters.state == "standing" else rows.exclude(still)
        )
    page, next_cursor = list_page_after(
        rows, among=visible, cursor=filters.cursor, limit=filters.limit
    )
    items = [_build_answer(row) for row in page]
    return build_json_response({"items": items, "next_cursor": next_cursor})


@router.post(
    "/permissions/{permission}/revoke",
    response=PermissionOut,
)
def revoke_permission(request: HttpRequest, permission: str) -> HttpResponse:
    """Take it back: from now on a person is asked again."""
    person = get_person(request)
    return build_json_response(
        _build_answer(submit_revocation(person=person, code=permission))
    )


def _build_answer(row: Permission) -> dict[str, Any]:
    return {
        "id": str(row.code),
        "project": row.project.slug,
        "scope": row.scope,
        "tool": row.tool,
        "covers": row.covers.replace(MAY_CHANGE, "#"),
        "rules": json.loads(row.rules),
        "granted_by": row.granted_by.username,
        "granted_at": format_timestamp(row.granted_at),
        "expires_at": format_timestamp(row.expires_at),
        "uses_left": row.uses_left,
        "used": row.used,
        "last_used_at": format_timestamp(row.last_used_at)
        if row.last_used_at
        else None,
        "revoked_by": row.revoked_by.username if row.revoked_by else None,
        "revoked_at": format_timestamp(row.revoked_at) if row.revoked_at else None,
        "state": get_permission_state(row, at=timezone.now()),
        "review": str(row.review.code),
        "run": str(row.run.code),
    }
