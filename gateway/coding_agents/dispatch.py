"""The one way in: an event of a hook, and what its host is to do."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from accounts.auth import AgentPrincipal
from common.errors import Invalid, NotFound, Unavailable
from common.responses import Reply, build_reply
from gateway.coding_agents.calls import handle_permission_request, handle_pre_tool_use
from gateway.coding_agents.idling import ends_turn, mark_idle
from gateway.coding_agents.inputs import HookIn, Host, Options
from gateway.coding_agents.lifecycle import (
    handle_session_end,
    handle_session_start,
    handle_user_prompt,
)
from gateway.coding_agents.replies import Outcome, add_notes, build_host_answer
from gateway.coding_agents.results import handle_post_tool_use
from gateway.coding_agents.session_events import HookEvent
from gateway.coding_agents.turns import handle_stop
from ledger.writer.halts import Halted
from reviews.errors import LimitReached

# What they ask about has not run yet.
BEFORE = frozenset({"PreToolUse", "PermissionRequest"})
HOSTS: tuple[Host, ...] = ("claude-code", "codex")
EVENTS: dict[str, Callable[[HookEvent], Awaitable[Outcome]]] = {
    "PreToolUse": handle_pre_tool_use,
    "PermissionRequest": handle_permission_request,
    "PostToolUse": partial(handle_post_tool_use, ok=True),
    "PostToolUseFailure": partial(handle_post_tool_use, ok=False),
    "Stop": handle_stop,
    "SubagentStop": handle_stop,
    "SessionStart": handle_session_start,
    "UserPromptSubmit": handle_user_prompt,
    "SessionEnd": handle_session_end,
}


async def handle_hook_event(
    *,
    agent: AgentPrincipal,
    host: Host,
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
    hook = HookEvent(agent=agent, host=host, event=event, body=body, options=options)
    try:
        async with asyncio.timeout(options.wait_s - hook.margin / 2):
            outcome = await answer(hook)
            if ends_turn(hook, outcome):
                await mark_idle(hook, idle=True)
    except (Halted, LimitReached) as refusal:
        outcome = Outcome(
            decision="deny" if event in BEFORE else "halt", reason=refusal.detail
        )
    except TimeoutError:
        raise Unavailable(f"No answer within {options.wait_s} seconds.") from None
    return build_reply(build_host_answer(host, event, add_notes(outcome, hook.notes)))
