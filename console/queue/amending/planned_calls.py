"""A plan as a person changes it: steps are struck, and of each call that is left what it
runs and how often. What comes of it is judged as a plan that an agent sends."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from common.errors import Invalid
from console.queue.amending.parts import AmendPart, PartReader, Typed
from console.queue.amending.texts import (
    LIMIT,
    format_document,
    format_text,
    parse_document,
    parse_text,
)
from guidance.core.plans.proposal import COUNT_LIMIT
from reviews.agent_plans.approving import build_document

Document = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFields:
    """Of one call: `text` is its command, or its arguments as JSON. `id` is another one
    as soon as the call is, so that nothing typed is taken for a part of another plan."""

    id: str
    text: AmendPart
    count: AmendPart


def build_call_fields(step: int, call: Mapping[str, Any]) -> CallFields:
    name, title = f"amended-{step}-{call['number']}", f"Step {step}"
    shown = call["shown"]
    if call["call_kind"] == "command":
        text, escaped = format_text("command", shown["command"])
        label = "The command as it should run"
    else:
        text, escaped = format_document(shown["arguments"]), False
        label = "The arguments as they should be sent, as JSON"
    return CallFields(
        id=f"{step}-{call['number']}-{call['key'][:12]}",
        text=AmendPart(
            name=f"{name}-text", label=label, text=text, title=title, escaped=escaped
        ),
        count=AmendPart(
            name=f"{name}-count",
            label="How often",
            text=str(call["count"]),
            title=title,
        ),
    )


def list_call_fields(content: Mapping[str, Any]) -> dict[tuple[int, int], CallFields]:
    """By step and call, of those that a plan covers; none where they are too long."""
    fields = {
        (step["number"], call["number"]): build_call_fields(step["number"], call)
        for step in content["steps"]
        for call in step["calls"]
        if call["covered"]
    }
    size = sum(each.text.size for each in fields.values())
    return fields if size <= LIMIT else {}


def change_plan(
    content: Mapping[str, Any], *, struck: Collection[str], typed: Typed
) -> Document | None:
    """The plan as a ruling takes it, without calls that no plan covers; None where nothing
    of it was changed. Raises PartsRefused."""
    fields, reader = list_call_fields(content), PartReader(typed)
    document = build_document(content)
    steps, is_changed = [], bool(struck)
    for step, judged in zip(document["steps"], content["steps"], strict=True):
        if str(judged["number"]) in struck:
            continue
        calls = []
        for call, each in zip(step["calls"], judged["calls"], strict=True):
            if not each["covered"]:
                continue
            found = fields.get((judged["number"], each["number"]))
            changed = _change_call(call, found, reader) if found else call
            is_changed |= changed != call
            calls.append(changed)
        if calls:
            steps.append({**step, "calls": calls})
    reader.refuse_problems()
    if not is_changed:
        return None
    if not steps:
        raise Invalid("Nothing would be left of the plan: deny it instead.")
    return {
        "title": document["title"],
        "steps": steps,
        "limits": _build_limits(document),
    }


def _change_call(call: Document, fields: CallFields, reader: PartReader) -> Document:
    """A call with another text is covered exactly as it stands."""
    named = "command" if "command" in call else "arguments"
    before = call[named]

    def parse(typed: str) -> Any:
        if named == "arguments":
            return before if typed == fields.text.text else parse_document(typed)
        if not typed.strip():
            raise Invalid("Say what is to run, or strike the step.")
        return parse_text("command", before, typed)

    text = reader.read(fields.text, parse, missing=before)
    count = reader.read(fields.count, _parse_count, missing=call["count"])
    changed = {**call, "count": count}
    if text != before:
        changed[named] = text
        changed.pop("shape", None)
    return changed


def _parse_count(typed: str) -> int:
    text = typed.strip()
    count = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0
    if not 1 <= count <= COUNT_LIMIT:
        raise Invalid(f"A whole number from 1 to {COUNT_LIMIT:,}.")
    return count


def _build_limits(document: Document) -> Document:
    """Where every call could be made as often as it was planned, that stays so."""
    limits = dict(document["limits"])
    planned = sum(call["count"] for step in document["steps"] for call in step["calls"])
    if limits["tool_calls"] >= planned:
        limits["tool_calls"] = None
    return limits
