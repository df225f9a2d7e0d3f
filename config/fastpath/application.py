"""All HTTP requests: matched once, let in by the guard, answered here or by Django."""

from __future__ import annotations

from functools import partial
from typing import Any

from accounts.api_auth import PARSED_REQUEST, ParsedRequest
from accounts.auth import Principal
from common.responses import Reply
from config.fastpath.answers import Request, validate_body
from config.fastpath.asgi import App, Receive, Scope, Send, send_json
from config.fastpath.bodies import parse_body
from config.fastpath.fail_closed import fail_closed
from config.fastpath.guard import Admitted, Guard
from config.fastpath.in_flight import InFlight
from config.fastpath.outcomes import send_errors, stop_on_hang_up
from config.fastpath.routes import Route, find_route
from config.fastpath.streaming import Stream, send_stream


class FastPath:
    """`enabled` is whether routes are answered here; the guard stands in any case."""

    def __init__(self, django: App, *, enabled: bool) -> None:
        self._django = django
        self._enabled = enabled
        self._guard = Guard()
        self._in_flight = InFlight()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not scope["path"].startswith("/api/"):
            await self._answer_page(scope, receive, send)
            return
        route, names = find_route(scope["method"], scope["path"])
        if route.fails_closed:
            inner = partial(self._admit, route, names)
            await fail_closed(inner, scope, receive, send)
        else:
            await self._admit(route, names, scope, receive, send)

    async def _answer_page(self, scope: Scope, receive: Receive, send: Send) -> None:
        admitted = self._guard.admit_page(scope, receive)
        body = await send_errors(admitted, scope, send)
        if body is not None:
            await self._django(scope, body, send)

    async def _admit(
        self,
        route: Route,
        names: dict[str, Any],
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        admitting = self._guard.admit(route, scope, receive)
        admitted = await send_errors(admitting, scope, send)
        if admitted is None:
            return
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
        seen = await send_errors(_parse(route, admitted), scope, send)
        if seen is None:
            return
        scope[PARSED_REQUEST] = seen
        if not self._enabled or route.answer is None or seen.principal is None:
            await self._django(scope, admitted.receive, send)
            return
        request = Request(scope, seen)
        answering = _call(route, request, seen.principal, names)
        if route.waits:
            answering = stop_on_hang_up(answering, admitted.receive)
        reply = await send_errors(answering, scope, send)
        if isinstance(reply, Stream):
            await send_stream(send, admitted.receive, reply)
        elif reply is not None:
            await send_json(
                send,
                status=reply.status,
                body=reply.body.encode(),
                headers=reply.headers.items(),
            )


async def _parse(route: Route, admitted: Admitted) -> ParsedRequest:
    document = await parse_body(admitted.raw, route.body)
    return ParsedRequest(
        principal=admitted.principal, raw=admitted.raw, document=document
    )


async def _call(
    route: Route, request: Request, principal: Principal, names: dict[str, Any]
) -> Reply | Stream:
    assert route.answer is not None
    if route.require is not None:
        principal = route.require(principal)
    body = None
    if route.schema is not None:
        body = await validate_body(route.schema, request.seen)
    return await route.answer(request, principal, body, **names)
