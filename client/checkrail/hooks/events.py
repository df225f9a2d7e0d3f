"""The events of the two hosts: how long each may take, and what holds when we fail."""

from __future__ import annotations

import json
from dataclasses import dataclass

HOSTS = ("claude-code", "codex")
# Both hosts give a hook 600 seconds unless told otherwise.
WAIT_SECONDS = 570.0
# Claude Code waits 30 seconds for this one, and 1.5 seconds for the last.
WAIT_SECONDS_AT = {"UserPromptSubmit": 25.0, "SessionEnd": 1.2}
# A server that cannot be reached is tried for so long: a restart is not noticed.
OUTAGE_SECONDS = 60.0
# At these somebody looks at the terminal, and nothing runs meanwhile.
OUTAGE_SECONDS_AT = {"SessionStart": 5.0, "UserPromptSubmit": 15.0}
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
class HookResult:
    """What the hook leaves behind: its exit code and its two streams."""

    code: int
    out: str = ""
    err: str = ""


def build_failure(event: str, reason: str) -> HookResult:
    """Closed: the host does not go on where this event can keep it from that.

    At the end of a turn an exit code of 2 would send the agent on instead; there, and
    where nothing runs, the person is told and no more.
    """
    message = f"Checkrail: {reason}"
    if event in BLOCKING:
        return HookResult(2, err=message)
    if event in {"PostToolUse", "PostToolUseFailure"}:
        return HookResult(0, out=json.dumps({"continue": False, "stopReason": message}))
    if event == "PermissionRequest":
        decision = {"behavior": "deny", "message": message}
        output = {"hookEventName": event, "decision": decision}
        return HookResult(0, out=json.dumps({"hookSpecificOutput": output}))
    return HookResult(1, err=message)


def build_pass(reason: str) -> HookResult:
    """Open, because somebody asked for that: the host goes on, and says so."""
    message = f"Checkrail: {reason} This session is not governed just now."
    return HookResult(0, out=json.dumps({"systemMessage": message}), err=message)
