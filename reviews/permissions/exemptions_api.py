"""Operations for exemptions: list, make and revoke them."""

from __future__ import annotations

from typing import Any, Literal

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router

from accounts.api_auth import get_person
from common.paging import PageQuery, list_page_after, refuse_unknown_parameters
from common.responses import build_json_response
from ledger.chain import format_timestamp
from reviews.models import Exemption
from reviews.permissions.exemptions import (
    submit_exemption,
    submit_exemption_revocation,
)
from reviews.schemas.exemptions import ExemptionIn, ExemptionOut, ExemptionPage

router = Router(tags=["Exemptions"])


class ExemptionFilters(PageQuery):
    state: Literal["standing", "ended"] | None = None


@router.get("/exemptions", response=ExemptionPage)
def list_exemptions(
    request: HttpRequest, filters: Query[ExemptionFilters]
) -> HttpResponse:
    """Values that are no secrets, newest first; `next_cursor` leads on."""
    person = get_person(request)
    refuse_unknown_parameters(request.GET, ExemptionFilters.model_fields)
    rows = visible = Exemption.objects.select_related(
        "project", "run", "made_by", "revoked_by"
    ).filter(project__membership__user_id=person.user_id)
    if filters.state is not None:
        rows = rows.filter(revoked_at__isnull=filters.state == "standing")
    page, next_cursor = list_page_after(
        rows, among=visible, cursor=filters.cursor, limit=filters.limit
    )
    items = [_answer(row) for row in page]
    return build_json_response({"items": items, "next_cursor": next_cursor})


@router.post("/exemptions", response={201: ExemptionOut})
def make_exemption(request: HttpRequest, body: ExemptionIn) -> HttpResponse:
    """Say that a value which blocked a call is no secret. Managers only."""
    row = submit_exemption(
        person=get_person(request),
        call_code=body.call,
        fingerprint=body.fingerprint,
        reason=body.reason,
    )
    return build_json_response(_answer(row), status=201)


@router.post(
    "/exemptions/{exemption}/revoke",
    response=ExemptionOut,
)
def revoke_exemption(request: HttpRequest, exemption: str) -> HttpResponse:
    """Take it back: from now on the value blocks calls again."""
    row = submit_exemption_revocation(person=get_person(request), code=exemption)
    return build_json_response(_answer(row))


def _answer(row: Exemption) -> dict[str, Any]:
    return {
        "id": str(row.code),
        "project": row.project.slug,
        "fingerprint": row.fingerprint,
        "label": row.label,
        "reason": row.reason,
        "made_by": row.made_by.username,
        "made_at": format_timestamp(row.made_at),
        "revoked_by": row.revoked_by.username if row.revoked_by else None,
        "revoked_at": format_timestamp(row.revoked_at) if row.revoked_at else None,
        "state": "revoked" if row.revoked_at else "standing",
        "call": str(row.call_id),
        "run": str(row.run.code),
    }
