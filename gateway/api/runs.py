"""Operations for agents. The fast path answers the most frequent of them in the same way."""

from __future__ import annotations

from typing import Annotated

from django.db import connection
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from ninja import Header, Router
from pydantic import WithJsonSchema

from accounts.api_auth import (
    get_agent,
    get_principal,
)
from common.paging import refuse_unknown_parameters
from common.responses import send_reply
from gateway.api.support import Pieces, get_browser_session, get_idempotency
from gateway.schemas.runs import (
    BatchOut,
    CheckpointIn,
    ContinueEvaluationOut,
    ContinueIn,
    DecisionOut,
    DecisionStateOut,
    FinishIn,
    RecordViolationIn,
    ReviewIn,
    RunIn,
    StepBatchIn,
    StepIn,
    ViolationOut,
)
from gateway.streams import events
from gateway.use_cases.asking.questions import AskPerson, withdraw_own_review
from gateway.use_cases.checkpoints import store_checkpoint
from gateway.use_cases.decision_wait import (
    QUERY,
    WAIT_MAX,
    await_decision,
    wait_seconds,
)
from gateway.use_cases.evaluation import evaluate_continue_body
from gateway.use_cases.outcomes.finish import FinishRun
from gateway.use_cases.outcomes.violations import RecordViolation
from gateway.use_cases.runs import create_run
from gateway.use_cases.steps import submit_step, submit_steps, take_reports
from ledger.schemas import RunOut, SavedCheckpointOut
from ledger.writer import get_writer
from reviews.schemas.reviews import ReviewOut

router = Router()


@router.post("/runs", response={201: RunOut}, tags=["Runs"])
async def start_run(request: HttpRequest, body: RunIn) -> HttpResponse:
    """Start a run: one agent working on one task."""
    agent = get_agent(request)
    key = get_idempotency(request)
    return send_reply(await create_run(agent=agent, body=body, idempotency=key))


@router.post("/runs/{run}/steps", response={201: DecisionOut}, tags=["Steps"])
async def report_step(request: HttpRequest, run: str, body: StepIn) -> HttpResponse:
    """Report one step and learn whether the run may go on."""
    return send_reply(
        await submit_step(
            agent=get_agent(request),
            run_code=run,
            body=body,
            idempotency=get_idempotency(request),
        )
    )


@router.post("/runs/{run}/steps/batch", response={200: BatchOut}, tags=["Steps"])
async def report_steps(
    request: HttpRequest, run: str, body: StepBatchIn
) -> HttpResponse:
    """Report up to 100 steps in order; ends at the first pause or stop."""
    return send_reply(
        await submit_steps(
            agent=get_agent(request),
            run_code=run,
            reports=take_reports(body.steps),
            idempotency=get_idempotency(request),
        )
    )


@router.post(
    "/runs/{run}/checkpoints", response={201: SavedCheckpointOut}, tags=["Runs"]
)
async def save_checkpoint(
    request: HttpRequest, run: str, body: CheckpointIn
) -> HttpResponse:
    """Save the agent's state at a step, up to 64 KiB of JSON without secrets."""
    return send_reply(
        await store_checkpoint(
            agent=get_agent(request),
            run_code=run,
            body=body,
            idempotency=get_idempotency(request),
        )
    )


@router.post("/runs/{run}/violations", response={201: ViolationOut}, tags=["Runs"])
async def record_violation(
    request: HttpRequest, run: str, body: RecordViolationIn
) -> HttpResponse:
    """Tell of a rule that was broken, at once; it counts when the run is judged."""
    change_request = RecordViolation(
        agent=get_agent(request),
        run_code=run,
        body=body,
        idempotency=get_idempotency(request),
    )
    return send_reply(await get_writer().perform(change_request))


@router.post("/runs/{run}/finish", response={200: RunOut}, tags=["Runs"])
async def finish_run(request: HttpRequest, run: str, body: FinishIn) -> HttpResponse:
    """End the run as completed or failed, with what came of it."""
    change_request = FinishRun(
        agent=get_agent(request),
        run_code=run,
        body=body,
        idempotency=get_idempotency(request),
    )
    return send_reply(await get_writer().perform(change_request))


@router.get(
    "/runs/{run}/decision",
    response={200: DecisionStateOut},
    tags=["Waiting"],
)
async def wait_for_decision(
    request: HttpRequest,
    run: str,
    wait: Annotated[
        str | None,
        WithJsonSchema(
            {
                "type": "integer",
                "minimum": 0,
                "maximum": WAIT_MAX,
                "description": "0 to 55 seconds",
            }
        ),
    ] = None,
    review: Annotated[
        str | None,
        WithJsonSchema(
            {"type": "string", "format": "uuid", "description": "else the newest one"}
        ),
    ] = None,
) -> HttpResponse:
    """What a person ruled: at once, or as soon as they rule, or after `wait`."""
    refuse_unknown_parameters(request.GET, QUERY)
    return send_reply(
        await await_decision(
            principal=get_principal(request),
            run_code=run,
            review_code=review,
            wait=wait_seconds(wait),
        )
    )


@router.get(
    "/runs/{run}/events",
    tags=["Waiting"],
    openapi_extra={
        "responses": {
            200: {
                "description": "One event for each ledger entry",
                "content": {
                    events.MEDIA_TYPE: {
                        "schema": {
                            "type": "object",
                            "properties": {
                                "id": {"type": "string"},
                                "event": {"type": "string"},
                                "data": {
                                    "type": "string",
                                    "contentMediaType": "application/json",
                                    "contentSchema": {
                                        "anyOf": [
                                            {
                                                "$ref": "#/components/schemas/LedgerEntry"
                                            },
                                            {"$ref": "#/components/schemas/LedgerEnd"},
                                        ]
                                    },
                                },
                            },
                        }
                    }
                },
            }
        }
    },
)
def follow_run(
    request: HttpRequest,
    run: str,
    after: Annotated[
        str | None,
        WithJsonSchema(
            {"type": "integer", "minimum": 0, "description": "begin behind this entry"}
        ),
    ] = None,
    last_event_id: Annotated[
        str | None, Header(alias="Last-Event-ID", description="the last `id` heard")
    ] = None,
) -> StreamingHttpResponse:
    """The run's ledger as server-sent events: what is there, then what comes.

    `id` is the entry's number, `event` its type, `data` the entry as in
    `GET /runs/{run}/ledger`. After the last entry of a run that is over: `end`.
    """
    refuse_unknown_parameters(request.GET, events.QUERY)
    followed = events.open_stream(
        principal=get_principal(request),
        run_code=run,
        last_event_id=last_event_id,
        after=after,
        session=get_browser_session(request),
    )
    if connection.vendor == "postgresql":
        connection.close()  # back to the pool: a stream may be open for days
    return StreamingHttpResponse(
        Pieces(events.stream_events(followed)),
        content_type=events.MEDIA_TYPE,
        headers=events.HEADERS,
    )


@router.post("/runs/{run}/reviews", response={201: ReviewOut}, tags=["Waiting"])
async def ask_person(request: HttpRequest, run: str, body: ReviewIn) -> HttpResponse:
    """Ask a person in the agent's own words; the run waits for the ruling."""
    change_request = AskPerson(
        agent=get_agent(request),
        run_code=run,
        body=body,
        idempotency=get_idempotency(request),
    )
    return send_reply(await get_writer().perform(change_request))


@router.post("/reviews/{review}/withdraw", response={200: ReviewOut}, tags=["Waiting"])
async def withdraw_review(request: HttpRequest, review: str) -> HttpResponse:
    """Take a request or question back; the run goes on."""
    return send_reply(
        await withdraw_own_review(
            agent=get_agent(request),
            review_code=review,
            idempotency=get_idempotency(request),
        )
    )


@router.post(
    "/evaluate/continue",
    response={200: ContinueEvaluationOut},
    tags=["Evaluate"],
)
async def evaluate_continue(request: HttpRequest, body: ContinueIn) -> HttpResponse:
    """The continue gate without a run: nothing is stored."""
    return send_reply(
        await evaluate_continue_body(principal=get_principal(request), body=body)
    )
