"""The table of requests to /api/ that need something of their own.

From it the guard knows what to read and whom to let in, the fast path what it answers
beside Django, and hooks that they fail closed. A request that is not in the table is a
JSON request that Django answers. CHECKRAIL_FAST_PATH=false leaves all answers to Django;
the rest of the table still holds.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from accounts.auth import Principal, require_agent, require_person
from common.responses import Reply
from config.fastpath import answers
from config.fastpath.bodies import JSON, SPANS, TOOL_RESULT, BodyRules
from config.fastpath.streaming import Stream
from gateway.coding_agents.inputs import HookIn
from gateway.schemas.calls import (
    EvaluateCommandIn,
    EvaluateEditIn,
    EvaluateMultiEditIn,
    EvaluateToolIn,
)
from gateway.schemas.quick_steps import read_batch
from gateway.schemas.runs import StepBatchIn, StepIn
from reviews.schemas.calls import ToolCallIn
from reviews.schemas.reviews import RulingIn

PREFIX = "/api/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One kind of request, and how it is treated."""

    method: str = "*"
    # Below PREFIX: {name} is one part of the path, {name:regex} whatever it matches.
    path: str
    # Called with the request, its principal, its body and the names in its path.
    # None: Django answers.
    answer: Callable[..., Awaitable[Reply | Stream]] | None = None
    require: Callable[[Principal], Principal] | None = None
    schema: type[BaseModel] | None = None
    # Reads a usual body at once, into what has the fields of the schema; None where the
    # body has to be parsed and validated.
    read: Callable[[bytes], BaseModel | None] | None = None
    body: BodyRules = JSON
    # Let in without credentials.
    public: bool = False
    # Each costs several milliseconds: a key has a few of them at a time.
    in_turn: bool = False
    # May take long: the work ends when the caller hangs up.
    waits: bool = False
    # Whatever goes wrong is answered with a denial in the host's own words.
    fails_closed: bool = False


# The most frequent first.
ROUTES = (
    Route(
        method="POST",
        path="/runs/{run}/steps",
        answer=answers.report_step,
        require=require_agent,
        schema=StepIn,
    ),
    Route(
        method="GET",
        path="/runs/{run}/decision",
        answer=answers.get_decision,
        waits=True,
    ),
    Route(
        method="POST",
        path="/runs/{run}/tool-calls",
        answer=answers.judge_tool_call,
        require=require_agent,
        schema=ToolCallIn,
        in_turn=True,
    ),
    Route(
        method="POST",
        path="/hooks/{dialect}/{event:PostToolUse|PostToolUseFailure}",
        answer=answers.answer_hook,
        require=require_agent,
        schema=HookIn,
        body=TOOL_RESULT,
        waits=True,
        fails_closed=True,
    ),
    Route(
        method="POST",
        path="/hooks/{dialect}/{event}",
        answer=answers.answer_hook,
        require=require_agent,
        schema=HookIn,
        waits=True,
        fails_closed=True,
    ),
    # A wrong address in a host's settings must not let its tools run.
    Route(method="POST", path="/hooks/{rest:.*}", fails_closed=True),
    Route(
        method="POST",
        path="/runs/{run}/steps/batch",
        answer=answers.report_steps,
        require=require_agent,
        schema=StepBatchIn,
        read=read_batch,
    ),
    Route(method="GET", path="/runs/{run}/events", answer=answers.follow_run),
    Route(
        method="POST",
        path="/reviews/{review}/ruling",
        answer=answers.rule_review,
        require=require_person,
        schema=RulingIn,
    ),
    *(
        Route(
            method="POST",
            path=f"/evaluate/{kind}",
            answer=answers.evaluate,
            schema=schema,
            in_turn=True,
        )
        for kind, schema in (
            ("command", EvaluateCommandIn),
            ("tool", EvaluateToolIn),
            ("edit", EvaluateEditIn),
            ("multi-edit", EvaluateMultiEditIn),
        )
    ),
    Route(method="POST", path="/runs", in_turn=True),
    # A long text is read for a tenth of a second.
    Route(method="POST", path="/runs/{run}/turns", in_turn=True),
    Route(method="POST", path="/evaluate/turn", in_turn=True),
    Route(path="/otlp/v1/traces", body=SPANS),
    Route(path="/openapi.json", public=True),
    Route(path="/docs", public=True),
    Route(method="GET", path="/policies/schema.json", public=True),
    # As long a text as the body may hold is read as YAML.
    Route(method="POST", path="/policies/validate", in_turn=True),
    Route(method="GET", path="/healthz", answer=answers.get_health, public=True),
    Route(path="/healthz", public=True),
    Route(path="/readyz", public=True),
    Route(path="/status", public=True),
)
OTHER = Route(path="/{rest:.*}")

_NAMES = re.compile(r"\{(\w+)(?::([^}]*))?\}")


def _compile(method: str) -> list[tuple[re.Pattern[str], Route]]:
    def replace(match: re.Match[str]) -> str:
        return f"(?P<{match[1]}>{match[2] or '[^/]+'})"

    return [
        (re.compile(PREFIX + _NAMES.sub(replace, route.path), re.DOTALL), route)
        for route in ROUTES
        if route.method in {method, "*"}
    ]


_BY_METHOD = {method: _compile(method) for method in ("GET", "POST")}
_BY_PATH = _compile("*")


def find_route(method: str, path: str) -> tuple[Route, dict[str, Any]]:
    """The first route that fits, and the names in its path."""
    for pattern, route in _BY_METHOD.get(method, _BY_PATH):
        match = pattern.fullmatch(path)
        if match is not None:
            return route, match.groupdict()
    return OTHER, {}
