"""Operations for gate checks and turns."""

from __future__ import annotations

from functools import partial

from django.http import HttpRequest, HttpResponse
from ninja import Router

from accounts.api_auth import get_agent, get_principal
from common.responses import send_reply
from gateway.api.support import get_idempotency
from gateway.schemas.checks import (
    CheckOut,
    EvaluateTurnIn,
    EvaluateVerdictIn,
    GateCheckIn,
    OpenedCheckOut,
    TurnEvaluationOut,
    TurnIn,
    TurnOut,
    VerdictIn,
    VerdictOut,
    VerdictReadingOut,
)
from gateway.use_cases.checks.submitting import (
    get_check_standing,
    submit_gate_check,
    submit_verdict,
)
from gateway.use_cases.evaluation import evaluate_turn_body, evaluate_verdict_body
from gateway.use_cases.turns import submit_turn
from ledger.writer.db_threads import run_in_db_thread

router = Router(tags=["Gate checks"])
evaluate = Router(tags=["Evaluate"])


@router.post("/runs/{run}/gate-checks", response={201: OpenedCheckOut})
async def open_gate_check(
    request: HttpRequest, run: str, body: GateCheckIn
) -> HttpResponse:
    """Put quality gates to a step; `prompt` is what to ask the model."""
    return send_reply(
        await submit_gate_check(
            agent=get_agent(request),
            run_code=run,
            body=body,
            idempotency=get_idempotency(request),
        )
    )


@router.get("/runs/{run}/gate-checks/{check}", response=CheckOut)
async def get_gate_check(request: HttpRequest, run: str, check: str) -> HttpResponse:
    """A check as it stands, with the prompt for its next attempt."""
    return send_reply(
        await run_in_db_thread(
            partial(get_check_standing, get_agent(request), run, check)
        )
    )


@router.post("/runs/{run}/gate-checks/{check}/verdicts", response=VerdictOut)
async def give_verdict(
    request: HttpRequest, run: str, check: str, body: VerdictIn
) -> HttpResponse:
    """PASS or FAIL, as an object or as text; a FAIL counts as an attempt."""
    return send_reply(
        await submit_verdict(
            agent=get_agent(request),
            run_code=run,
            check_code=check,
            body=body,
            idempotency=get_idempotency(request),
        )
    )


@router.post("/runs/{run}/turns", response={201: TurnOut}, tags=["Turns"])
async def judge_turn(request: HttpRequest, run: str, body: TurnIn) -> HttpResponse:
    """How a turn ended: is the agent done, half-way, or waiting for a person?"""
    return send_reply(
        await submit_turn(
            agent=get_agent(request),
            run_code=run,
            body=body,
            idempotency=get_idempotency(request),
        )
    )


@evaluate.post("/evaluate/turn", response=TurnEvaluationOut)
async def evaluate_turn(request: HttpRequest, body: EvaluateTurnIn) -> HttpResponse:
    """A turn without a run: nothing is stored."""
    return send_reply(
        await evaluate_turn_body(principal=get_principal(request), body=body)
    )


@evaluate.post("/evaluate/verdict", response=VerdictReadingOut)
async def evaluate_verdict(
    request: HttpRequest, body: EvaluateVerdictIn
) -> HttpResponse:
    """How a text is read as a verdict: nothing is stored."""
    return send_reply(await evaluate_verdict_body(body=body))
