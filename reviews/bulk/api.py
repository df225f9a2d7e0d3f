"""The operation for people's programs that rule on several reviews at once."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Router

from accounts.api_auth import get_agent_session, get_person
from common.responses import build_json_response
from reviews.bulk.results import Result
from reviews.bulk.schemas import BulkRulingIn, BulkRulingOut
from reviews.bulk.services import submit_rulings

router = Router(tags=["Reviews"])


@router.post("/reviews/bulk-ruling", response=BulkRulingOut)
async def rule_reviews(request: HttpRequest, body: BulkRulingIn) -> HttpResponse:
    """Rule on several reviews of one kind, none of them critical: each stands or falls
    alone, by its own version and digest, with an entry of its own in the ledger."""
    results = await submit_rulings(
        items=body.items,
        action=body.action,
        note=body.note,
        person=get_person(request),
        session=get_agent_session(request),
    )
    return build_json_response({"results": [*map(serialize_result, results)]})


def serialize_result(result: Result) -> dict[str, Any]:
    answer: dict[str, Any] = {"id": result.code, "status": result.status}
    if result.refusal is not None:
        refusal = result.refusal
        answer["problem"] = {
            "type": refusal.slug,
            "title": refusal.title,
            "status": refusal.status,
            "detail": refusal.detail,
        }
    if result.ruling is not None:
        answer["ruling"] = result.ruling
    return answer
