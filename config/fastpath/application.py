"""All HTTP requests: matched once, let in by the guard, answered here or by Django."""

from __future__ import annotations

from functools import partial
from typing import Any

from pydantic import BaseModel

from accounts.api_auth import PARSED_REQUEST, ParsedRequest
from accounts.auth import AgentPrincipal, Principal
from common.long_work import Share, share
from common.responses import Reply
from config.fastpath.answers import Request, validate_body
from config.fastpath.asgi import (
    App,
    Receive,
    Scope,
    Send,
    build_reply_messages,
    send_all,
)
from config.fastpath.bodies import parse_body
from config.fastpath.fail_closed import fail_closed
from config.fastpath.guard import Admitted, Guard
from config.fastpath.in_flight import InFlight
from config.fastpath.outcomes import send_error, stop_on_hang_up
from config.fastpath.routes import PREFIX, Route, find_route
from config.fastpath.streaming import Stream, send_stream

# Programs that restart a server ask for it here, or below PREFIX.
HEALTH = "/healthz"
# Its token is neither an agent's nor a person's: its view judges it.
METRICS = f"{PREFIX}/metrics"


class FastPath:
    """`enabled` is whether routes are answered here; the guard stands in any case."""

    def __init__(self, django: App, *, enabled: bool) -> None:
        self._django = django
        self._enabled = enabled
        self.guard = Guard()
        self._in_flight = InFlight()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method, path = scope["method"], scope["path"]
        if (method, path) == ("GET", HEALTH):
            path = f"{PREFIX}{HEALTH}"
        if not path.startswith("/api/") or path == METRICS:
            await self._answer_page(scope, receive, send)
            return
        route, names = find_route(method, path)
        if route.fails_closed:
            inner = partial(self._admit, route, names)
            await fail_closed(inner, scope, receive, send)
        else:
            await self._admit(route, names, scope, receive, send)

    async def _answer_page(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            body = await self.guard.admit_page(scope, receive)
        except Exception as error:
            await send_error(error, scope, send)
        else:
            await self._django(scope, body, send)

    async def _admit(
        self,
        route: Route,
        names: dict[str, Any],
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        try:
            admitted = await self.guard.admit(route, scope, receive)
        except Exception as error:
            await send_error(error, scope, send)
            return
        share.set(_get_share(admitted.principal))
        if not route.in_turn:
            await self._answer(route, names, admitted, scope, send)
            return
        async with self._in_flight.wait_for_turn(admitted.principal):
            await self._answer(route, names, admitted, scope, send)

    async def _answer(
        self,
        route: Route,
        names: dict[str, Any],
        admitted: Admitted,
        scope: Scope,
        send: Send,
    ) -> None:
        reply: Reply | Stream | None = None
        try:
            known = self._enabled and (route.public or admitted.principal is not None)
            body = route.read(admitted.raw) if known and route.read else None
            document = None
            if body is None:
                document = await parse_body(admitted.raw, route.body)
            seen = ParsedRequest(
                principal=admitted.principal, raw=admitted.raw, document=document
            )
            scope[PARSED_REQUEST] = seen
            if known and route.answer is not None:
                request = Request(scope, seen)
                reply = await _call(route, names, admitted, request, body)
        except Exception as error:
            await send_error(error, scope, send)
            return
        if reply is None:
            await self._django(scope, admitted.receive, send)
        elif isinstance(reply, Stream):
            await send_stream(send, admitted.receive, reply)
        else:
            await send_all(send, build_reply_messages(reply))


def _get_share(principal: Principal | None) -> Share:
    if isinstance(principal, AgentPrincipal):
        return Share(principal.project_id, principal.actor)
    return Share(actor=principal.actor if principal else "")


async def _call(
    route: Route,
    names: dict[str, Any],
    admitted: Admitted,
    request: Request,
    body: BaseModel | None,
) -> Reply | Stream:
    principal = request.seen.principal
    assert route.answer is not None
    if route.require is not None:
        assert principal is not None
        principal = route.require(principal)
    if body is None and route.schema is not None:
        body = await validate_body(route.schema, request.seen)
    answering = route.answer(request, principal, body, **names)
    if route.waits:
        return await stop_on_hang_up(answering, admitted.receive)
    return await answering
