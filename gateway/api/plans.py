"""Operations for plans: submit one, and list those of a run."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from ninja import Router

from accounts.api_auth import get_agent, get_principal
from common.responses import build_json_response, send_reply
from gateway.api.support import get_idempotency
from gateway.use_cases.asking.plans import submit_plan as submit
from ledger.selectors import get_visible_run
from reviews.agent_plans.selectors import list_plans
from reviews.schemas.plans import PlanIn, PlanList
from reviews.schemas.reviews import ReviewOut

router = Router(tags=["Plans"])


@router.post("/runs/{run}/plans", response={201: ReviewOut})
async def submit_plan(request: HttpRequest, run: str, body: PlanIn) -> HttpResponse:
    """Ask once for many calls; the run waits for the ruling on the plan."""
    return send_reply(
        await submit(
            agent=get_agent(request),
            run_code=run,
            body=body,
            idempotency=get_idempotency(request),
        )
    )


@router.get("/runs/{run}/plans", response=PlanList)
def list_run_plans(request: HttpRequest, run: str) -> HttpResponse:
    """The plans of a run, the newest first, each with what was used of it."""
    found = get_visible_run(principal=get_principal(request), code=run)
    items = [plan.to_answer() for plan in list_plans(found)]
    return build_json_response({"items": items})
