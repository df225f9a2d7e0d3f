"""Operations for tool calls: judged before they run, claimed once, settled after."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from ninja import Router

from accounts.api_auth import get_agent, get_principal
from common.responses import send_reply
from gateway.api.support import get_idempotency
from gateway.schemas.calls import (
    CallEvaluationOut,
    ClaimIn,
    ClaimOut,
    EvaluateCommandIn,
    EvaluateEditIn,
    EvaluateMultiEditIn,
    EvaluateToolIn,
    MultiEditEvaluationOut,
    ResultIn,
    SettledOut,
    StandingCallOut,
    ToolCallOut,
)
from gateway.use_cases.claims import RedeemGrant, get_call_standing, submit_result
from gateway.use_cases.evaluation import evaluate_call_body
from gateway.use_cases.tool_calls import submit_call
from ledger.writer import get_writer
from ledger.writer.db_threads import run_in_db_thread
from reviews.schemas.calls import ToolCallIn

router = Router(tags=["Tool calls"])
evaluate = Router(tags=["Evaluate"])


@router.post("/runs/{run}/tool-calls", response={201: ToolCallOut})
async def judge_tool_call(
    request: HttpRequest, run: str, body: ToolCallIn
) -> HttpResponse:
    """Ask before acting: allowed with a grant, put before a person, or blocked."""
    return send_reply(
        await submit_call(
            agent=get_agent(request),
            run_code=run,
            call=body.build_call(),
            idempotency=get_idempotency(request),
        )
    )


@router.get("/runs/{run}/tool-calls/{call}", response=StandingCallOut)
async def get_tool_call(request: HttpRequest, run: str, call: str) -> HttpResponse:
    """A call as it stands now, and what may run."""
    agent = get_agent(request)
    return send_reply(
        await run_in_db_thread(lambda: get_call_standing(agent, run, call))
    )


@router.post("/runs/{run}/tool-calls/{call}/claim", response=ClaimOut)
async def claim_tool_call(
    request: HttpRequest, run: str, call: str, body: ClaimIn
) -> HttpResponse:
    """Spend the grant, once, for exactly the digest that was granted."""
    change_request = RedeemGrant(
        agent=get_agent(request),
        run_code=run,
        call_code=call,
        digest=body.digest,
        idempotency=get_idempotency(request),
    )
    return send_reply(await get_writer().perform(change_request))


@router.post("/runs/{run}/tool-calls/{call}/result", response=SettledOut)
async def settle_tool_call(
    request: HttpRequest, run: str, call: str, body: ResultIn
) -> HttpResponse:
    """Tell what came of the call; its amounts are added to the run's."""
    return send_reply(
        await submit_result(
            agent=get_agent(request),
            run_code=run,
            call_code=call,
            body=body,
            idempotency=get_idempotency(request),
        )
    )


@evaluate.post("/evaluate/command", response=CallEvaluationOut)
async def evaluate_command(
    request: HttpRequest, body: EvaluateCommandIn
) -> HttpResponse:
    """The gates of a command without a run: nothing is stored."""
    return send_reply(
        await evaluate_call_body(principal=get_principal(request), body=body)
    )


@evaluate.post("/evaluate/tool", response=CallEvaluationOut)
async def evaluate_tool(request: HttpRequest, body: EvaluateToolIn) -> HttpResponse:
    """The gates of a tool's arguments without a run: nothing is stored."""
    return send_reply(
        await evaluate_call_body(principal=get_principal(request), body=body)
    )


@evaluate.post("/evaluate/edit", response=CallEvaluationOut)
async def evaluate_edit(request: HttpRequest, body: EvaluateEditIn) -> HttpResponse:
    """The gates of an edit without a run: nothing is stored."""
    return send_reply(
        await evaluate_call_body(principal=get_principal(request), body=body)
    )


@evaluate.post("/evaluate/multi-edit", response=MultiEditEvaluationOut)
async def evaluate_multi_edit(
    request: HttpRequest, body: EvaluateMultiEditIn
) -> HttpResponse:
    """Plan several edits of one text, all or none: nothing is stored."""
    return send_reply(
        await evaluate_call_body(principal=get_principal(request), body=body)
    )
