"""The operation by which people's programs take an allowance back."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from ninja import Router

from accounts.api_auth import get_person
from common.responses import build_json_response
from ledger.schemas import RunOut
from ledger.serializers import serialize_run
from reviews.allowances.ending import submit_allowance_end
from reviews.selectors import get_visible_run

router = Router(tags=["Runs"])


@router.post("/runs/{run}/allowances/{allowance}/revoke", response=RunOut)
def revoke_allowance(request: HttpRequest, run: str, allowance: str) -> HttpResponse:
    """Take it back: from the next step on the run asks again."""
    person = get_person(request)
    submit_allowance_end(run_code=run, code=allowance, person=person)
    found = get_visible_run(user_id=person.user_id, code=run)
    return build_json_response(serialize_run(found))
