"""The one way in: an event of a hook, and what its host is to do."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from accounts.auth import AgentPrincipal
from common.errors import Invalid, NotFound, Unavailable
from common.responses import Reply, build_reply
from gateway.coding_agents.calls import before_tool, permission_asked
from gateway.coding_agents.inputs import Dialect, HookIn, Options
from gateway.coding_agents.lifecycle import prompt_given, session_began, session_ended
from gateway.coding_agents.replies import Outcome, add_notes, spoken
from gateway.coding_agents.results import after_tool
from gateway.coding_agents.session_events import Visit
from gateway.coding_agents.turns import would_stop

DIALECTS: tuple[Dialect, ...] = ("claude-code", "codex")
EVENTS: dict[str, Callable[[Visit], Awaitable[Outcome]]] = {
    "PreToolUse": before_tool,
    "PermissionRequest": permission_asked,
    "PostToolUse": partial(after_tool, ok=True),
    "PostToolUseFailure": partial(after_tool, ok=False),
    "Stop": would_stop,
    "SubagentStop": would_stop,
    "SessionStart": session_began,
    "UserPromptSubmit": prompt_given,
    "SessionEnd": session_ended,
}


async def hook_answer(
    *,
    agent: AgentPrincipal,
    dialect: Dialect,
    event: str,
    body: HookIn,
    options: Options,
) -> Reply:
    """Within `wait_s`, whatever happens."""
    answer = EVENTS.get(event)
    if answer is None:
        raise NotFound(f"No hook is answered for the event {event}.")
    if body.hook_event_name not in {None, event}:
        raise Invalid(
            f"The address is for {event}, the event is {body.hook_event_name}: "
            "correct the settings of the hook."
        )
    visit = Visit(agent=agent, dialect=dialect, event=event, body=body, options=options)
    try:
        async with asyncio.timeout(options.wait_s - visit.margin / 2):
            outcome = await answer(visit)
    except TimeoutError:
        raise Unavailable(f"No answer within {options.wait_s} seconds.") from None
    return build_reply(spoken(dialect, event, add_notes(outcome, visit.notes)))
