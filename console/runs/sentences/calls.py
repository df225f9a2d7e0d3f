"""What the entries of tool calls say, and the rulings that let calls run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from console.format import format_compact, format_count, format_elapsed
from console.runs.sentences.runs import Line, find_text, list_messages
from guidance.core.canonical import to_canonical_json
from safetext import make_visible_line

_JUDGED = {
    "allow": ("terminal", "mute", "Call allowed"),
    "warn": ("alert", "slow", "Call allowed with a warning"),
    "require-confirmation": ("pause", "pause", "Call needs approval"),
    "block": ("stop", "stop", "Call blocked"),
}
_RULINGS = {
    "approve": ("check", "go", "Approved"),
    "amend": ("check", "go", "Approved with changes"),
    "abort": ("x", "stop", "Ruled: abort"),
    "deny": ("x", "stop", "Denied"),
    "answer": ("note", "go", "Answered"),
    "retry": ("retry", "go", "Retry requested"),
    "skip": ("skip", "pause", "Gate skipped"),
}
_REMEMBERED = {"exact": "This exact call", "shape": "Calls of this shape"}


def describe_call(payload: Mapping[str, Any]) -> Line:
    icon, tone, head = _JUDGED[payload["decision"]]
    return Line(
        icon="key" if payload["permission"] else icon,
        tone=tone,
        head=head,
        text=make_visible_line(payload["tool"]),
        code=format_call(payload["shown"]),
        why=list_messages(payload["findings"]),
    )


def describe_replayed_call(payload: Mapping[str, Any]) -> Line:
    return Line(
        icon="retry",
        tone="mute",
        head="Call answered from a stored result",
        text=make_visible_line(payload["tool"]),
        code=format_call(payload["shown"]),
        why=list_messages(payload["findings"]),
    )


def describe_started_call(_payload: Mapping[str, Any]) -> Line:
    return Line(icon="play", tone="mute", head="Call started")


def describe_settled_call(payload: Mapping[str, Any]) -> Line:
    """The output only where it is a text: what else it means, a program knows."""
    ok, output = payload["ok"], payload["output"]
    head = "Call done" if ok else "Call failed"
    if payload["duration_ms"]:
        head += f"{' in' if ok else ' after'} {format_elapsed(payload['duration_ms'])}"
    return Line(
        icon="check" if ok else "x",
        tone="mute" if ok else "stop",
        head=head,
        text=make_visible_line(output) if isinstance(output, str) else "",
        tokens=format_compact(payload["tokens"]) if payload["tokens"] else "",
    )


def describe_ruling(payload: Mapping[str, Any]) -> Line:
    """A ruling on any review; one on a call may change it, and may be remembered."""
    icon, tone, head = _RULINGS.get(payload["action"], ("check", "mute", "Ruled"))
    amended, permission = payload.get("amended"), payload.get("permission")
    why = list_messages(payload.get("amended_findings") or [])
    if payload["action"] == "skip":
        why = ("gate not passed",)
    if payload["action"] == "retry":
        state = payload["check_state"]
        why = (f"reset {state['resets']} of {state['max_resets']}",)
    if permission:
        uses = permission["uses"]
        what = _REMEMBERED[permission["scope"]]
        times = format_count(uses, "more time")
        why = (*why, f"{what} may run {times} without asking")
    return Line(
        icon=icon,
        tone=tone,
        head=head,
        text=find_text(payload),
        # Of a plan its own entry tells.
        code=format_call(amended) if amended and "steps" not in amended else "",
        why=why,
    )


def describe_exemption(payload: Mapping[str, Any]) -> Line:
    return Line(
        icon="key",
        tone="go",
        head="Marked as “not a secret”",
        text=make_visible_line(payload["reason"]),
        code=payload["label"],
    )


def format_call(shown: Mapping[str, Any]) -> str:
    """A call on one line: its command, its file, or its arguments."""
    for name in ("command", "file_path", "arguments_json"):
        if name in shown:
            return make_visible_line(shown[name])
    return make_visible_line(to_canonical_json(shown.get("arguments", {})))
