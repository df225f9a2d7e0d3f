"""The hottest doors, answered beside Django: fully async, no ORM in the request.

They use the same schemas, the same principal and the same intake functions as the
documented operations in `gateway.api.runs`, `call_api` and `people_api`;
CHECKRAIL_LEAN_FRONT=false sends these requests through Django instead, and the answers
are the same.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Container
from functools import partial
from typing import TypeVar
from urllib.parse import parse_qs

from django.db import DatabaseError, InterfaceError
from pydantic import BaseModel, ValidationError

from accounts.api_auth import SEEN, Seen
from accounts.auth import (
    AgentPrincipal,
    PersonPrincipal,
    Principal,
    require_agent,
    require_person,
)
from common.errors import Broken, DomainError, Malformed, Unavailable
from common.paging import only_known
from common.responses import Reply
from config.fastpath.asgi import (
    App,
    Receive,
    Scope,
    Send,
    header,
    send_json,
    send_problem,
)
from config.fastpath.problems import invalid_body
from config.fastpath.streaming import Stream, hang_up, send_stream
from gateway.schemas.calls import (
    EvaluateCommandIn,
    EvaluateEditIn,
    EvaluateIn,
    EvaluateMultiEditIn,
    EvaluateToolIn,
)
from gateway.schemas.runs import StepBatchIn, StepIn
from gateway.streams import events
from gateway.use_cases import decision_wait as waiting
from gateway.use_cases.decision_wait import decision_wait, wait_seconds
from gateway.use_cases.evaluation import call_evaluate
from gateway.use_cases.steps import step_submit, steps_submit
from gateway.use_cases.tool_calls import call_submit
from ledger.idempotency import Idempotency, build_idempotency
from ledger.writer.db_threads import run_in_db_thread
from reviews.schemas.calls import ToolCallIn
from reviews.schemas.reviews import RulingIn
from reviews.services import review_ruled

B = TypeVar("B", bound=BaseModel)
_LONG = 20_000
_RUN_DOORS = re.compile(
    r"^/api/v1/runs/([^/]+)/(steps|steps/batch|tool-calls|decision|events)$"
)
_RULING_DOOR = re.compile(r"^/api/v1/reviews/([^/]+)/ruling$")

logger = logging.getLogger(__name__)


class LeanFront:
    def __init__(self, inner: App) -> None:
        self.inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = _door(scope, receive)
        if answer is None:
            await self.inner(scope, receive, send)
            return
        try:
            reply = await answer()
        except DomainError as error:
            await send_problem(send, error)
            return
        except (DatabaseError, InterfaceError):
            logger.exception("%s %s failed", scope["method"], scope["path"])
            await send_problem(send, Unavailable("The database does not answer."))
            return
        except Exception:
            logger.exception("%s %s failed", scope["method"], scope["path"])
            await send_problem(send, Broken("The error is in the server's log."))
            return
        if isinstance(reply, Stream):
            await send_stream(send, receive, reply)
        elif reply is not None:
            await send_json(
                send,
                status=reply.status,
                body=reply.body.encode(),
                headers=reply.headers.items(),
            )


def _door(
    scope: Scope, receive: Receive
) -> Callable[[], Awaitable[Reply | Stream | None]] | None:
    """The use case behind this request, or None when Django is to answer."""
    if scope["type"] != "http" or SEEN not in scope:
        return None
    seen: Seen = scope[SEEN]
    principal = seen.principal
    if principal is None:
        return None
    if match := _RUN_DOORS.match(scope["path"]):
        run, door = match.groups()
        if door == "decision" and scope["method"] == "GET":
            return lambda: _unless_gone(_decision(scope, principal, run), receive)
        if door == "events" and scope["method"] == "GET":
            return lambda: _events(scope, principal, run)
        use_case = _USE_CASES.get(door)
        if use_case is not None and scope["method"] == "POST":
            return lambda: use_case(scope, seen, require_agent(principal), run)
        return None
    if match := _RULING_DOOR.match(scope["path"]):
        if scope["method"] == "POST":
            return lambda: _ruling(seen, require_person(principal), match[1])
        return None
    schema = _EVALUATIONS.get(scope["path"])
    if schema is not None and scope["method"] == "POST":
        return lambda: _evaluation(principal, schema, seen)
    return None


async def _evaluation(
    principal: Principal, schema: type[EvaluateIn], seen: Seen
) -> Reply:
    return await call_evaluate(principal=principal, body=await _body(schema, seen))


async def _ruling(seen: Seen, person: PersonPrincipal, review: str) -> Reply:
    body = await _body(RulingIn, seen)
    return await review_ruled(review_code=review, person=person, body=body)


async def _step(scope: Scope, seen: Seen, agent: AgentPrincipal, run: str) -> Reply:
    return await step_submit(
        agent=agent,
        run_code=run,
        body=await _body(StepIn, seen),
        idempotency=_idempotency(scope, seen, status=201),
    )


async def _steps(scope: Scope, seen: Seen, agent: AgentPrincipal, run: str) -> Reply:
    return await steps_submit(
        agent=agent,
        run_code=run,
        bodies=(await _body(StepBatchIn, seen)).steps,
        idempotency=_idempotency(scope, seen, status=200),
    )


async def _call(scope: Scope, seen: Seen, agent: AgentPrincipal, run: str) -> Reply:
    return await call_submit(
        agent=agent,
        run_code=run,
        call=(await _body(ToolCallIn, seen)).root.call(),
        idempotency=_idempotency(scope, seen, status=201),
    )


_USE_CASES = {"steps": _step, "steps/batch": _steps, "tool-calls": _call}
_EVALUATIONS: dict[str, type[EvaluateIn]] = {
    "/api/v1/evaluate/command": EvaluateCommandIn,
    "/api/v1/evaluate/tool": EvaluateToolIn,
    "/api/v1/evaluate/edit": EvaluateEditIn,
    "/api/v1/evaluate/multi-edit": EvaluateMultiEditIn,
}


async def _body(schema: type[B], seen: Seen) -> B:
    """Beside the event loop where it is long: texts are cleaned as they are read."""
    if len(seen.raw) < _LONG:
        return _read(schema, seen)
    return await asyncio.to_thread(_read, schema, seen)


def _read(schema: type[B], seen: Seen) -> B:
    if not seen.raw:
        raise Malformed("The body is empty: send one JSON document.")
    try:
        return schema.model_validate(seen.document)
    except ValidationError as error:
        raise invalid_body(error) from None


def _idempotency(scope: Scope, seen: Seen, *, status: int) -> Idempotency | None:
    return build_idempotency(
        key=header(scope, b"idempotency-key"),
        agent_id=require_agent(seen.principal).agent_id,
        method=scope["method"],
        path=scope["path"],
        body=seen.raw,
        status=status,
    )


async def _decision(scope: Scope, principal: Principal, run: str) -> Reply:
    query = _query(scope, waiting.QUERY)
    return await decision_wait(
        principal=principal,
        run_code=run,
        review_code=query.get("review"),
        wait=wait_seconds(query.get("wait")),
    )


async def _events(scope: Scope, principal: Principal, run: str) -> Stream:
    query = _query(scope, events.QUERY)
    followed = await run_in_db_thread(
        partial(
            events.run_followed,
            principal=principal,
            run_code=run,
            last_event_id=header(scope, b"last-event-id"),
            after=query.get("after"),
        )
    )
    return Stream(
        media_type=events.MEDIA_TYPE,
        headers=events.HEADERS,
        pieces=events.events(followed),
    )


def _query(scope: Scope, known: Container[str]) -> dict[str, str]:
    """Where a name stands twice, the last one counts, as Django reads it."""
    text = scope["query_string"].decode("latin-1")
    query = parse_qs(text, keep_blank_values=True)
    only_known(query, known)
    return {name: values[-1] for name, values in query.items()}


async def _unless_gone(work: Awaitable[Reply], receive: Receive) -> Reply | None:
    """The answer, or None once nobody is there to hear it."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(hang_up(receive))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        return None
    finally:
        gone.cancel()
        task.cancel()
