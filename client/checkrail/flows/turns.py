"""Report how a turn ended, and learn whether the agent is done."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from checkrail.answers import Turn
from checkrail.errors import ProtocolError
from checkrail.flows.rulings import get_deadline, send_when_running, wait_for_ruling
from checkrail.flows.run_core import RunCore
from checkrail.flows.steps import catch_up
from checkrail.transport.effects import Flow, drop_unset, post


def build_turn_body(
    content: str,
    finish_reason: str | None,
    tool_calls: int,
    last_event: str,
    pending_todos: int,
) -> dict[str, Any]:
    return {
        "finish_reason": finish_reason,
        "tool_calls": tool_calls,
        "last_event": last_event,
        "content": content,
        "pending_todos": pending_todos,
    }


def turn(
    run: RunCore,
    *,
    content: str = "",
    finish_reason: str | None = None,
    tool_calls: int = 0,
    last_event: str = "assistant",
    pending_todos: int = 0,
    tool_signature: str | None = None,
    wait: bool = False,
    timeout: float | None = None,
) -> Flow[Turn]:
    """Report how a turn ended. With `wait`, wait for a person's `answer` if one is needed."""
    until = get_deadline(run, timeout)
    yield from catch_up(run, until)
    body = build_turn_body(
        content, finish_reason, tool_calls, last_event, pending_todos
    )
    request = post(
        run.build_path("turns"), {**body, **drop_unset(tool_signature=tool_signature)}
    )
    answered = yield from send_when_running(run, Turn, request, until)
    if answered.action != "needs_human" or not wait:
        return answered
    if answered.review is None:
        raise ProtocolError("A person is needed, but no review says where.")
    ruling = yield from wait_for_ruling(run, answered.review, until)
    return replace(answered, answer=ruling.answer, ruling=ruling)
