"""Steps and plain calls that come whole are handed to the writer as they are read: a task for
each of them, and the layers that it would go through, cost as much as all the rest (bench
steps, calls).

Only where nothing has to be waited for and nothing is wrong; every other request, whatever
is wrong with it, goes the usual way and is answered there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from accounts.auth import AgentPrincipal, get_known_principal
from common.responses import Reply
from config.fastpath.answers import LONG, judge_tool_call, report_step
from config.fastpath.asgi import (
    Message,
    Scope,
    build_problem_messages,
    get_header,
)
from config.fastpath.guard import Guard
from config.fastpath.problems import build_problem
from config.fastpath.routes import find_route
from config.fastpath.strict_json import parse
from gateway.schemas.quick_steps import read_step
from gateway.schemas.runs import StepIn
from gateway.use_cases.steps import build_step_request
from gateway.use_cases.tool_calls import build_plain_call_request
from ledger.idempotency import Idempotency, build_idempotency
from ledger.writer import ChangeRequest, get_writer
from reviews.errors import LookNeeded, PolicyMoved, StepSeen
from reviews.schemas.calls import ToolCallIn

# Called with the reply, or with the messages of another answer; None: the request must go
# the usual way.
Respond = Callable[[Reply | tuple[Message, Message] | None], None]


# Of a body, its agent, its run and its key; None: the request must go the usual way.
Build = Callable[
    [bytes, AgentPrincipal, str, Idempotency | None], ChangeRequest[Reply] | None
]


class Kind(NamedTuple):
    """What is taken at once, up to so many bytes."""

    build: Build
    longest: int


class Waiting(NamedTuple):
    """A request whose head was let in, and whose body may still be on its way."""

    kind: Kind
    agent: AgentPrincipal
    # Of the agent's key.
    digest: str
    run: str
    # As it was sent, where one was.
    idempotency_key: str | None
    scope: Scope


class AtOnce:
    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    def admit(self, scope: Scope) -> Waiting | None:
        """Judge a head: None where the request must go the usual way."""
        if scope["method"] != "POST":
            return None
        route, names = find_route("POST", scope["path"])
        kind = None if route.answer is None else _KINDS.get(route.answer)
        if kind is None:
            return None
        try:
            agent, digest = self._guard.admit_known(route, scope)
            length = int(get_header(scope, b"content-length") or LONG)
        except Exception:  # it is met again there, and said
            return None
        if not isinstance(agent, AgentPrincipal) or length >= kind.longest:
            return None
        key = get_header(scope, b"idempotency-key")
        return Waiting(kind, agent, digest, names["run"], key, scope)

    def admits_again(self, waiting: Waiting) -> bool:
        """Whether the same head would be let in now: all but the key is as it was."""
        return get_known_principal(waiting.digest) is waiting.agent

    def take(self, waiting: Waiting, raw: bytes, respond: Respond) -> bool:
        """Whether it is with the writer; `respond` is called after its commit."""
        kind, agent, _, run, key, scope = waiting
        if len(raw) >= kind.longest or self._guard.is_over_rate(agent):
            return False
        try:
            idempotency = build_idempotency(
                key=key,
                agent_id=agent.agent_id,
                method=scope["method"],
                path=scope["path"],
                body=raw,
            )
            request = kind.build(raw, agent, run, idempotency)
            if request is None:
                return False
            self._guard.count(agent)
            get_writer().submit(request, partial(_settle, scope, respond))
        except Exception:  # the same
            return False
        return True


def _build_step(
    raw: bytes, agent: AgentPrincipal, run: str, idempotency: Idempotency | None
) -> ChangeRequest[Reply]:
    body = read_step(raw) or StepIn.model_validate(parse(raw))
    return build_step_request(
        agent=agent, run_code=run, body=body, idempotency=idempotency
    )


def _build_call(
    raw: bytes, agent: AgentPrincipal, run: str, idempotency: Idempotency | None
) -> ChangeRequest[Reply] | None:
    """Only a plain one, which costs no more than a step: of all others a key has a few at a
    time."""
    call = ToolCallIn.model_validate(parse(raw)).build_call()
    return build_plain_call_request(
        agent=agent, run_code=run, call=call, idempotency=idempotency
    )


_KINDS: dict[Callable[..., object], Kind] = {
    report_step: Kind(_build_step, LONG),
    # No longer command is plain.
    judge_tool_call: Kind(_build_call, 2_000),
}


def _settle(
    scope: Scope, respond: Respond, reply: Any, error: BaseException | None
) -> None:
    if error is None:
        respond(reply)
    elif isinstance(error, (StepSeen, PolicyMoved, LookNeeded)):
        respond(None)  # something has to be waited for
    else:
        assert isinstance(error, Exception)
        problem = build_problem(error, method=scope["method"], path=scope["path"])
        respond(build_problem_messages(problem))
