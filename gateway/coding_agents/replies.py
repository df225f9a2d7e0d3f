"""An outcome in the words of the coding agent that asked.

What an answer means to the host was tried with the programs themselves. Two of their
habits matter: Claude Code runs a tool although a hook before it said `continue: false`,
so that a halt there denies, too; and Codex takes an `allow` that changes nothing, an
`ask` or a halt before a tool as a broken hook, and runs the tool.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from gateway.coding_agents.inputs import Dialect

Verb = Literal["go", "allow", "deny", "ask", "defer", "halt", "work"]
Answer = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """`go` is no opinion, `work` sends an agent that would stop on its way again.

    `reason` says why, `context` is told to the model beside it, `updated` is the whole
    input of the tool as it is to run.
    """

    verb: Verb = "go"
    reason: str = ""
    context: str = ""
    updated: dict[str, Any] | None = None


GO = Outcome()


def add_notes(outcome: Outcome, notes: Sequence[str]) -> Outcome:
    """What people wrote, for the model: where a reason is all that it reads, with that."""
    told = "\n".join(notes)
    if not told or outcome.verb == "halt":
        return outcome
    if outcome.verb in {"deny", "work"}:
        return replace(outcome, reason=f"{outcome.reason}\n{told}")
    context = "\n".join(filter(None, (outcome.context, told)))
    return replace(outcome, context=context)


def spoken(dialect: Dialect, event: str, outcome: Outcome) -> Answer:
    match event:
        case "PreToolUse":
            return _before(dialect, outcome)
        case "PermissionRequest":
            return _permission(outcome)
        case "SessionStart" if outcome.verb == "halt":
            # Nothing can be stopped yet: the person and the model are told.
            told = _context(event, outcome.reason)
            return {"systemMessage": outcome.reason, **told}
        case "SessionEnd":
            return {"systemMessage": outcome.reason} if outcome.reason else {}
        case _:
            return _later(event, outcome)


def trouble(dialect: Dialect, event: str, reason: str) -> Answer:
    """What holds at this event when we could not judge: never a way to go on."""
    before = event in {"PreToolUse", "PermissionRequest"}
    held = Outcome(verb="deny" if before else "halt", reason=reason)
    return spoken(dialect, event, held)


def choose_parked_verb(dialect: Dialect, *, headless: bool) -> Verb:
    """What to say of a call when nobody ruled on it in time."""
    if dialect == "codex":
        return "deny"
    return "defer" if headless else "ask"


def _before(dialect: Dialect, outcome: Outcome) -> Answer:
    verb, halts = outcome.verb, {}
    if verb == "halt" and dialect == "claude-code":
        halts = {"continue": False, "stopReason": outcome.reason}
    if verb in {"halt", "work"}:
        verb = "deny"
    if dialect == "codex":
        if verb in {"ask", "defer"}:
            verb = "deny"
        if verb == "allow" and outcome.updated is None:
            verb = "go"
    if verb == "go":
        return _context("PreToolUse", outcome.context)
    said: Answer = {"hookEventName": "PreToolUse", "permissionDecision": verb}
    if outcome.reason:
        said["permissionDecisionReason"] = outcome.reason
    if outcome.updated is not None and verb == "allow":
        said["updatedInput"] = outcome.updated
    if outcome.context:
        said["additionalContext"] = outcome.context
    return {**halts, "hookSpecificOutput": said}


def _later(event: str, outcome: Outcome) -> Answer:
    """The tool has run, or there was none: there is the agent itself to halt."""
    if outcome.verb == "halt":
        return {"continue": False, "stopReason": outcome.reason}
    if outcome.verb == "work":
        return {"decision": "block", "reason": outcome.reason}
    return _context(event, outcome.context)


def _permission(outcome: Outcome) -> Answer:
    """Neither host is given a changed input here: Codex would refuse it."""
    if outcome.verb == "go":
        return {}
    decision: Answer = {"behavior": "allow"}
    if outcome.verb != "allow":
        decision = {"behavior": "deny", "message": outcome.reason}
    said = {"hookEventName": "PermissionRequest", "decision": decision}
    return {"hookSpecificOutput": said}


def _context(event: str, text: str) -> Answer:
    if not text:
        return {}
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
