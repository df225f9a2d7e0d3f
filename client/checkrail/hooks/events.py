"""The events of the two hosts: how long each may take, and what holds when we fail."""

from __future__ import annotations

import json
from dataclasses import dataclass

HOSTS = ("claude-code", "codex")
# Both hosts give a hook 600 seconds unless told otherwise.
HELD = 570.0
# Claude Code waits 30 seconds for this one, and 1.5 seconds for the last.
PATIENCE = {"UserPromptSubmit": 25.0, "SessionEnd": 1.2}
# A server that cannot be reached is tried for so long: a restart is not noticed.
OUTAGE = 60.0
# At these somebody looks at the terminal, and nothing runs meanwhile.
OUTAGE_AT = {"SessionStart": 5.0, "UserPromptSubmit": 15.0}
EVENTS: dict[str, tuple[str, ...]] = {
    "claude-code": (
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "Stop",
        "SubagentStop",
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
    ),
    "codex": (
        "PreToolUse",
        "PermissionRequest",
        "PostToolUse",
        "Stop",
        "SubagentStop",
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
    ),
}
# At these an exit code of 2 keeps the host from going on.
BLOCKING = frozenset({"PreToolUse", "UserPromptSubmit"})
# Sent again after a lost answer, these do nothing a second time.
REPEATABLE = frozenset(
    {
        "PreToolUse",
        "PermissionRequest",
        "PostToolUse",
        "PostToolUseFailure",
        "SessionStart",
        "UserPromptSubmit",
    }
)


@dataclass(frozen=True)
class Ending:
    """What the hook leaves behind: its exit code and its two streams."""

    code: int
    out: str = ""
    err: str = ""


def failed(event: str, reason: str) -> Ending:
    """Closed: the host does not go on where this event can keep it from that.

    At the end of a turn an exit code of 2 would send the agent on instead; there, and
    where nothing runs, the person is told and no more.
    """
    said = f"Checkrail: {reason}"
    if event in BLOCKING:
        return Ending(2, err=said)
    if event in {"PostToolUse", "PostToolUseFailure"}:
        return Ending(0, out=json.dumps({"continue": False, "stopReason": said}))
    if event == "PermissionRequest":
        decision = {"behavior": "deny", "message": said}
        output = {"hookEventName": event, "decision": decision}
        return Ending(0, out=json.dumps({"hookSpecificOutput": output}))
    return Ending(1, err=said)


def passed(reason: str) -> Ending:
    """Open, because somebody asked for that: the host goes on, and says so."""
    said = f"Checkrail: {reason} This session is not governed just now."
    return Ending(0, out=json.dumps({"systemMessage": said}), err=said)
