"""One function for each operation that is answered beside Django.

Each calls the use case that the documented operation in django-ninja calls, with the same
schema; `routes` says which request goes to which.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from accounts.api_auth import ParsedRequest
from accounts.auth import AgentPrincipal, PersonPrincipal, Principal
from common.errors import Malformed, NotFound
from common.long_work import run_long
from common.paging import refuse_unknown_parameters
from common.responses import Reply, build_reply
from config.fastpath.asgi import Scope, get_header
from config.fastpath.headers import parse_query
from config.fastpath.problems import build_invalid_body
from config.fastpath.streaming import Stream
from gateway.coding_agents.dispatch import HOSTS, handle_hook_event
from gateway.coding_agents.inputs import HookIn, parse_options
from gateway.schemas.calls import EvaluateIn
from gateway.schemas.quick_steps import CleanBatchIn
from gateway.schemas.runs import StepBatchIn, StepIn
from gateway.streams import events
from gateway.use_cases import decision_wait as waiting
from gateway.use_cases.decision_wait import await_decision, wait_seconds
from gateway.use_cases.evaluation import evaluate_call_body
from gateway.use_cases.steps import submit_step, submit_steps, take_reports
from gateway.use_cases.tool_calls import submit_call
from ledger.idempotency import Idempotency, build_idempotency
from ledger.writer.db_threads import run_in_db_thread
from reviews.schemas.calls import ToolCallIn
from reviews.schemas.reviews import RulingIn
from reviews.services import submit_ruling

B = TypeVar("B", bound=BaseModel)
# Texts are cleaned while a body is validated: a long one takes a thread.
LONG = 20_000


@dataclass(frozen=True, slots=True)
class Request:
    """What an answer may need beside principal, body and the names in its path."""

    scope: Scope
    seen: ParsedRequest

    def get_idempotency(self, agent: AgentPrincipal) -> Idempotency | None:
        return build_idempotency(
            key=get_header(self.scope, b"idempotency-key"),
            agent_id=agent.agent_id,
            method=self.scope["method"],
            path=self.scope["path"],
            body=self.seen.raw,
        )


async def validate_body(schema: type[B], seen: ParsedRequest) -> B:
    if len(seen.raw) < LONG:
        return _validate(schema, seen)
    return await run_long(_validate, schema, seen)


def _validate(schema: type[B], seen: ParsedRequest) -> B:
    if not seen.raw:
        raise Malformed("The body is empty: send one JSON document.")
    try:
        return schema.model_validate(seen.document)
    except ValidationError as error:
        raise build_invalid_body(error) from None


async def get_health(
    _request: Request, _principal: Principal | None, _body: None
) -> Reply:
    """Nothing is asked: that this is answered says all."""
    return build_reply({"status": "ok"})


async def report_step(
    request: Request, agent: AgentPrincipal, body: StepIn, *, run: str
) -> Reply:
    return await submit_step(
        agent=agent,
        run_code=run,
        body=body,
        idempotency=request.get_idempotency(agent),
    )


async def report_steps(
    request: Request,
    agent: AgentPrincipal,
    body: StepBatchIn | CleanBatchIn,
    *,
    run: str,
) -> Reply:
    return await submit_steps(
        agent=agent,
        run_code=run,
        reports=take_reports(body.steps),
        idempotency=request.get_idempotency(agent),
    )


async def judge_tool_call(
    request: Request, agent: AgentPrincipal, body: ToolCallIn, *, run: str
) -> Reply:
    return await submit_call(
        agent=agent,
        run_code=run,
        call=body.build_call(),
        idempotency=request.get_idempotency(agent),
    )


async def get_decision(
    request: Request, principal: Principal, _body: None, *, run: str
) -> Reply:
    query = parse_query(request.scope)
    refuse_unknown_parameters(query, waiting.QUERY)
    return await await_decision(
        principal=principal,
        run_code=run,
        review_code=query.get("review"),
        wait=wait_seconds(query.get("wait")),
    )


async def follow_run(
    request: Request, principal: Principal, _body: None, *, run: str
) -> Stream:
    query = parse_query(request.scope)
    refuse_unknown_parameters(query, events.QUERY)
    followed = await run_in_db_thread(
        partial(
            events.open_stream,
            principal=principal,
            run_code=run,
            last_event_id=get_header(request.scope, b"last-event-id"),
            after=query.get("after"),
        )
    )
    return Stream(
        media_type=events.MEDIA_TYPE,
        headers=events.HEADERS,
        pieces=events.stream_events(followed),
    )


async def rule_review(
    request: Request, person: PersonPrincipal, body: RulingIn, *, review: str
) -> Reply:
    session = get_header(request.scope, b"checkrail-agent-session")
    return await submit_ruling(
        review_code=review, person=person, body=body, session=session
    )


async def evaluate(_request: Request, principal: Principal, body: EvaluateIn) -> Reply:
    return await evaluate_call_body(principal=principal, body=body)


async def answer_hook(
    request: Request, agent: AgentPrincipal, body: HookIn, *, dialect: str, event: str
) -> Reply:
    known = next((each for each in HOSTS if each == dialect), None)
    if known is None:
        raise NotFound
    options = parse_options(parse_query(request.scope), body.checkrail)
    return await handle_hook_event(
        agent=agent, host=known, event=event, body=body, options=options
    )
