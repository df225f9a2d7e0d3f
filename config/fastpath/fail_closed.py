"""Hooks of coding agents fail closed: trouble is answered with a denial, in time.

A host takes every answer but 200 with JSON, and every late one, as permission to go on.
So whatever goes wrong on the way to a hook's answer, from a wrong key to an error of
ours, becomes an answer that stops the host.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from accounts.api_auth import PARSED_REQUEST, ParsedRequest
from common.errors import DomainError
from config.fastpath.asgi import App, Message, Receive, Scope, Send, send_json
from config.fastpath.headers import parse_query
from config.fastpath.problems import build_problem
from gateway.coding_agents.dispatch import EVENTS, HOSTS
from gateway.coding_agents.inputs import WAIT_DEFAULT, Host, parse_query_wait
from gateway.coding_agents.replies import build_failure_answer
from ledger.waiting.hub import get_hub

PREFIX = "/api/v1/hooks/"
# Our command hook reads it: it waits and asks again where that may help.
TROUBLE = "Checkrail-Trouble"
# And this: an empty answer lets a tool run, and any server may give one.
OURS = ("Checkrail-Hook", "1")
# A host that is busy may send its next call on a connection which we have closed as idle
# meanwhile. It then takes the error as permission: no connection is used twice.
CLOSE = ("Connection", "close")


async def fail_closed(inner: App, scope: Scope, receive: Receive, send: Send) -> None:
    """Send 200 with JSON, whatever comes from within: its answer, or a denial."""
    recorder = Recorder()
    problem: dict[str, Any] = {}
    try:
        async with asyncio.timeout(_get_timeout(scope)):
            await inner(scope, receive, recorder.send)
    except TimeoutError:
        problem = {"detail": "it did not answer in time"}
    except Exception as error:
        found = build_problem(error, method=scope["method"], path=scope["path"])
        problem = {"type": found.slug, "detail": found.detail}
    document = recorder.parse()
    if recorder.status == 200 and document is not None and not problem:
        headers = [OURS, CLOSE]
        if get_hub().closing:
            # What is held ends with this process; the next one may know more.
            headers.append((TROUBLE, "unavailable"))
        await send_json(send, status=200, body=recorder.body, headers=headers)
        return
    await _send_denial(scope, send, problem or document or {})


class Recorder:
    """What the application answered, before any of it is sent."""

    def __init__(self) -> None:
        self.status = 0
        self.body = b""

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        elif message["type"] == "http.response.body":
            self.body += message.get("body", b"")

    def parse(self) -> dict[str, Any] | None:
        try:
            document = json.loads(self.body)
        except ValueError:
            return None
        return document if isinstance(document, dict) else None


async def _send_denial(scope: Scope, send: Send, problem: Mapping[str, Any]) -> None:
    slug = str(problem.get("type", "")).rpartition("/")[2] or "unavailable"
    reason = str(problem.get("detail") or "the answer could not be read")
    if slug == "unauthenticated":
        reason = f"the key is not known. {reason} Is CHECKRAIL_KEY set?"
    headers = [OURS, CLOSE, (TROUBLE, slug)]
    await send_json(send, status=200, body=build_denial(scope, reason), headers=headers)


def build_denial(scope: Scope, reason: str) -> bytes:
    """What stops the host at its event. Of the scope the path is enough."""
    host, event = _find_hook(scope)
    answer = build_failure_answer(
        host, event, f"Checkrail could not judge this: {reason}"
    )
    return json.dumps(answer).encode()


def _find_hook(scope: Scope) -> tuple[Host, str]:
    """Find host and event, also of a wrong address: a denial in the words of the first host,
    for the event that the body names, stops a tool all the same."""
    host, _, event = scope["path"].removeprefix(PREFIX).partition("/")
    seen: ParsedRequest | None = scope.get(PARSED_REQUEST)
    document = seen.document if seen else None
    named = document.get("hook_event_name") if isinstance(document, dict) else None
    if isinstance(named, str) and named in EVENTS:
        event = named
    return next((each for each in HOSTS if each == host), HOSTS[0]), event


def _get_timeout(scope: Scope) -> int:
    try:
        return parse_query_wait(parse_query(scope))
    except DomainError:
        return WAIT_DEFAULT  # refused further in, with the reason
