"""Operations for coding agents that are governed through their hooks."""

from __future__ import annotations

from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Router
from pydantic import WithJsonSchema

from accounts.api_auth import get_agent
from common.responses import send_reply
from gateway.coding_agents.dispatch import handle_hook_event
from gateway.coding_agents.inputs import WAIT_MAX, HookIn, Host, parse_options

router = Router(tags=["Hooks"])


@router.post("/hooks/{dialect}/{event}", response=dict[str, Any])
async def answer_hook(
    request: HttpRequest,
    dialect: Host,
    event: Annotated[
        str,
        WithJsonSchema(
            {"type": "string", "description": "as the host names it: PreToolUse …"}
        ),
    ],
    body: HookIn,
    wait_s: Annotated[
        str | None,
        WithJsonSchema(
            {
                "type": "integer",
                "minimum": 1,
                "maximum": WAIT_MAX,
                "description": "answer within so many seconds; 570 if left out",
            }
        ),
    ] = None,
    headless: Annotated[
        str | None,
        WithJsonSchema(
            {"type": "boolean", "description": "true: nobody sits at the terminal"}
        ),
    ] = None,
    on_allow: Annotated[
        str | None,
        WithJsonSchema(
            {
                "type": "string",
                "enum": ["none", "allow"],
                "description": "allow: the host need not ask its user again",
            }
        ),
    ] = None,
    policy: Annotated[
        str | None,
        WithJsonSchema(
            {
                "type": "string",
                "minLength": 1,
                "maxLength": 64,
                "description": "of runs that begin",
            }
        ),
    ] = None,
) -> HttpResponse:
    """An event of Claude Code or Codex, answered in the words of its hooks.

    The answer is always 200: where a hook cannot be judged, it says so and holds.
    """
    options = parse_options(request.GET.dict(), body.checkrail)
    return send_reply(
        await handle_hook_event(
            agent=get_agent(request),
            host=dialect,
            event=event,
            body=body,
            options=options,
        )
    )
