"""The gates without a run: nothing is stored, nothing is granted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from checkrail.answers import CallEvaluation, Evaluation, TurnEvaluation, VerdictReading
from checkrail.flows.call_bodies import (
    command_fields,
    edit_fields,
    multi_edit_fields,
    tool_fields,
)
from checkrail.flows.turns import turn_body
from checkrail.transport.connection import Link
from checkrail.transport.effects import Flow, given, post_safe
from checkrail.transport.retry import ask


class Linked(Protocol):
    @property
    def link(self) -> Link: ...


def evaluate_command(
    rail: Linked,
    command: str,
    *,
    tool: str = "Bash",
    arguments: Mapping[str, Any] | None = None,
    policy: str = "default",
) -> Flow[CallEvaluation]:
    """What the gates say to a command."""
    fields = command_fields(command, tool=tool, arguments=arguments)
    return (yield from _call(rail, "command", fields, policy))


def evaluate_tool(
    rail: Linked,
    tool: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    arguments_json: str | None = None,
    policy: str = "default",
) -> Flow[CallEvaluation]:
    """What the gates say to a tool's arguments."""
    fields = tool_fields(tool, arguments, arguments_json=arguments_json)
    return (yield from _call(rail, "tool", fields, policy))


def evaluate_edit(
    rail: Linked,
    file_path: str,
    content: str,
    *,
    tool: str = "Edit",
    diff_lines: int | None = None,
    policy: str = "default",
) -> Flow[CallEvaluation]:
    """What the gates say to new content of a file."""
    fields = edit_fields(file_path, content, tool=tool, diff_lines=diff_lines)
    return (yield from _call(rail, "edit", fields, policy))


def evaluate_multi_edit(
    rail: Linked,
    file_path: str,
    original: str,
    edits: Sequence[Mapping[str, Any]],
    *,
    tool: str = "MultiEdit",
    policy: str = "default",
) -> Flow[CallEvaluation]:
    """Plan several edits of one text, all or none."""
    fields = multi_edit_fields(file_path, original, edits, tool=tool)
    return (yield from _call(rail, "multi-edit", fields, policy))


def evaluate_turn(
    rail: Linked,
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
        **turn_body(content, finish_reason, tool_calls, last_event, pending_todos),
        **given(model=model),
        "recent_tool_ratio": recent_tool_ratio,
        "policy": policy,
    }
    return (
        yield from ask(rail.link, TurnEvaluation, post_safe("/evaluate/turn", body))
    )


def evaluate_verdict(rail: Linked, text: str) -> Flow[VerdictReading]:
    """How a text is read as a verdict."""
    request = post_safe("/evaluate/verdict", {"text": text})
    return (yield from ask(rail.link, VerdictReading, request))


def evaluate_continue(rail: Linked, /, **facts: Any) -> Flow[Evaluation]:
    """What the continue gate says to these facts, named as in the API."""
    return (
        yield from ask(rail.link, Evaluation, post_safe("/evaluate/continue", facts))
    )


def _call(
    rail: Linked, door: str, fields: Mapping[str, Any], policy: str
) -> Flow[CallEvaluation]:
    body = {name: value for name, value in fields.items() if name != "kind"}
    request = post_safe(f"/evaluate/{door}", {**body, "policy": policy})
    return (yield from ask(rail.link, CallEvaluation, request))
