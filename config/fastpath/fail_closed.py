"""The doors of coding agents' hooks: an answer in time that never lets trouble pass.

A host takes every other answer than 200 with JSON, and every late one, as leave to go
on. So whatever goes wrong on the way to a hook's answer, from a wrong key to an error of
ours, is turned into an answer that holds.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

from django.db import DatabaseError, InterfaceError
from pydantic import ValidationError

from accounts.api_auth import SEEN, Seen
from accounts.auth import require_agent
from common.errors import DomainError, Malformed, NotFound
from common.responses import Reply
from config.fastpath.asgi import App, Message, Receive, Scope, Send, send_json
from config.fastpath.problems import invalid_body
from config.fastpath.streaming import hang_up
from gateway.coding_agents.dispatch import DIALECTS, EVENTS, hook_answer
from gateway.coding_agents.inputs import (
    WAIT_DEFAULT,
    Dialect,
    HookIn,
    options_of,
    query_wait,
)
from gateway.coding_agents.replies import trouble
from ledger.waiting.hub import hub

PREFIX = "/api/v1/hooks/"
# Our command hook reads it: it waits and asks again where that may help.
TROUBLE = "Checkrail-Trouble"
# And this: an empty answer lets a tool run, and anybody's server may give one.
OURS = ("Checkrail-Hook", "1")
_DOOR = re.compile(rf"^{PREFIX}([^/]+)/([^/]+)$")

logger = logging.getLogger(__name__)


class HookDoor:
    """Behind the guard: answers hooks beside Django, as the lean front does."""

    def __init__(self, inner: App) -> None:
        self.inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        door = _DOOR.match(scope["path"]) if _is_hook(scope) else None
        seen: Seen | None = scope.get(SEEN)
        if door is None or seen is None or seen.principal is None:
            await self.inner(scope, receive, send)
            return
        answering = asyncio.ensure_future(_answer(scope, seen, *door.groups()))
        gone = asyncio.ensure_future(hang_up(receive))
        try:
            await asyncio.wait({answering, gone}, return_when=asyncio.FIRST_COMPLETED)
            if answering.done():
                body = answering.result().body.encode()
                await send_json(send, status=200, body=body)
        finally:
            gone.cancel()
            answering.cancel()


async def _answer(scope: Scope, seen: Seen, dialect: str, event: str) -> Reply:
    agent = require_agent(seen.principal)
    known = _dialect(dialect)
    if known is None:
        raise NotFound
    if not seen.raw:
        raise Malformed("The body is empty: send one JSON document.")
    try:
        body = HookIn.model_validate(seen.document)
    except ValidationError as error:
        raise invalid_body(error) from None
    options = options_of(_query(scope), body.checkrail)
    return await hook_answer(
        agent=agent, dialect=known, event=event, body=body, options=options
    )


class HookFailsClosed:
    """Before everything: 200 with JSON that holds, whatever comes from within."""

    def __init__(self, inner: App) -> None:
        self.inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not _is_hook(scope):
            await self.inner(scope, receive, send)
            return
        heard = Heard()
        reason = ""
        try:
            async with asyncio.timeout(_patience(scope)):
                await self.inner(scope, receive, heard.send)
        except TimeoutError:
            reason = "it did not answer in time"
        except DomainError as error:
            heard.problem = error.slug
            reason = error.detail
        except (DatabaseError, InterfaceError):
            logger.exception("%s failed", scope["path"])
            reason = "the database does not answer"
        except Exception:
            heard.problem = "internal"
            logger.exception("%s failed", scope["path"])
            reason = "an error in the server, which its log tells"
        await _send(scope, send, heard, reason)


class Heard:
    """What the application answered, before anybody is told."""

    def __init__(self) -> None:
        self.status = 0
        self.body = b""
        self.problem = ""

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        elif message["type"] == "http.response.body":
            self.body += message.get("body", b"")

    def document(self) -> dict[str, Any] | None:
        try:
            document = json.loads(self.body)
        except ValueError:
            return None
        return document if isinstance(document, dict) else None


async def _send(scope: Scope, send: Send, heard: Heard, reason: str) -> None:
    document = heard.document()
    headers = [OURS]
    if heard.status == 200 and document is not None and not reason:
        if hub().closing:
            # What is held ends with this process; the next one may know more.
            headers.append((TROUBLE, "unavailable"))
        await send_json(send, status=200, body=heard.body, headers=headers)
        return
    problem = document or {}
    slug = heard.problem or str(problem.get("type", "")).rpartition("/")[2]
    said = reason or _mend(problem)
    headers.append((TROUBLE, slug or "unavailable"))
    body = build_denial(scope, said)
    await send_json(send, status=200, body=body, headers=headers)


def build_denial(scope: Scope, reason: str) -> bytes:
    """What holds the host at its event. Of the scope the path is enough."""
    dialect, event = _named(scope)
    answer = trouble(dialect, event, f"Checkrail could not judge this: {reason}")
    return json.dumps(answer).encode()


def _mend(problem: Mapping[str, Any]) -> str:
    detail = str(problem.get("detail") or "the answer could not be read")
    if str(problem.get("type", "")).endswith("/unauthenticated"):
        return f"the key is not known. {detail} Is CHECKRAIL_KEY set?"
    return detail


def _is_hook(scope: Scope) -> bool:
    if scope["type"] != "http" or scope["method"] != "POST":
        return False
    path: str = scope["path"]
    return path.startswith(PREFIX)


def _named(scope: Scope) -> tuple[Dialect, str]:
    """Of a wrong address, too: it is answered in the words of the first host, and for
    the event that the host says it is at, so that a tool is held by an answer to it."""
    host, _, event = scope["path"].removeprefix(PREFIX).partition("/")
    seen: Seen | None = scope.get(SEEN)
    said = seen.document if seen else None
    told = said.get("hook_event_name") if isinstance(said, dict) else None
    if isinstance(told, str) and told in EVENTS:
        event = told
    return _dialect(host) or DIALECTS[0], event


def _dialect(name: str) -> Dialect | None:
    return next((known for known in DIALECTS if known == name), None)


def _query(scope: Scope) -> dict[str, str]:
    text = scope["query_string"].decode("latin-1")
    query = parse_qs(text, keep_blank_values=True)
    return {name: values[-1] for name, values in query.items()}


def _patience(scope: Scope) -> int:
    try:
        return query_wait(_query(scope))
    except DomainError:
        return WAIT_DEFAULT  # refused further in, with the reason
