"""The gates without a run: nothing is stored, nothing is granted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from checkrail.answers import CallEvaluation, Evaluation, TurnEvaluation, VerdictReading
from checkrail.flows.call_requests import (
    build_command_fields,
    build_edit_fields,
    build_multi_edit_fields,
    build_tool_fields,
)
from checkrail.flows.turns import build_turn_body
from checkrail.transport.connection import Connection
from checkrail.transport.effects import Flow, drop_unset, post_safe
from checkrail.transport.retry import send_request


class HasConnection(Protocol):
    @property
    def connection(self) -> Connection: ...


def evaluate_command(
    rail: HasConnection,
    command: str,
    *,
    tool: str = "Bash",
    arguments: Mapping[str, Any] | None = None,
    policy: str = "default",
) -> Flow[CallEvaluation]:
    """What the gates say to a command."""
    fields = build_command_fields(command, tool=tool, arguments=arguments)
    return (yield from _evaluate_call(rail, "command", fields, policy))


def evaluate_tool(
    rail: HasConnection,
    tool: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    arguments_json: str | None = None,
    policy: str = "default",
) -> Flow[CallEvaluation]:
    """What the gates say to a tool's arguments."""
    fields = build_tool_fields(tool, arguments, arguments_json=arguments_json)
    return (yield from _evaluate_call(rail, "tool", fields, policy))


def evaluate_edit(
    rail: HasConnection,
    file_path: str,
    content: str,
    *,
    tool: str = "Edit",
    diff_lines: int | None = None,
    policy: str = "default",
) -> Flow[CallEvaluation]:
    """What the gates say to new content of a file."""
    fields = build_edit_fields(file_path, content, tool=tool, diff_lines=diff_lines)
    return (yield from _evaluate_call(rail, "edit", fields, policy))


def evaluate_multi_edit(
    rail: HasConnection,
    file_path: str,
    original: str,
    edits: Sequence[Mapping[str, Any]],
    *,
    tool: str = "MultiEdit",
    policy: str = "default",
) -> Flow[CallEvaluation]:
    """Plan several edits of one text, all or none."""
    fields = build_multi_edit_fields(file_path, original, edits, tool=tool)
    return (yield from _evaluate_call(rail, "multi-edit", fields, policy))


def evaluate_turn(
    rail: HasConnection,
    *,
    content: str = "",
    finish_reason: str | None = None,
    tool_calls: int = 0,
    last_event: str = "assistant",
    pending_todos: int = 0,
    model: str = "",
    recent_tool_ratio: float = 0.0,
    policy: str = "default",
) -> Flow[TurnEvaluation]:
    """How a turn would be judged, as if it were the first of a run."""
    body = {
        **build_turn_body(
            content, finish_reason, tool_calls, last_event, pending_todos
        ),
        **drop_unset(model=model),
        "recent_tool_ratio": recent_tool_ratio,
        "policy": policy,
    }
    return (
        yield from send_request(
            rail.connection, TurnEvaluation, post_safe("/evaluate/turn", body)
        )
    )


def evaluate_verdict(rail: HasConnection, text: str) -> Flow[VerdictReading]:
    """How a text is read as a verdict."""
    request = post_safe("/evaluate/verdict", {"text": text})
    return (yield from send_request(rail.connection, VerdictReading, request))


def evaluate_continue(rail: HasConnection, /, **facts: Any) -> Flow[Evaluation]:
    """What the continue gate says to these facts, named as in the API."""
    return (
        yield from send_request(
            rail.connection, Evaluation, post_safe("/evaluate/continue", facts)
        )
    )


def _evaluate_call(
    rail: HasConnection, name: str, fields: Mapping[str, Any], policy: str
) -> Flow[CallEvaluation]:
    body = {name: value for name, value in fields.items() if name != "kind"}
    request = post_safe(f"/evaluate/{name}", {**body, "policy": policy})
    return (yield from send_request(rail.connection, CallEvaluation, request))
