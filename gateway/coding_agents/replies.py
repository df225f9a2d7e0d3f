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

from gateway.coding_agents.inputs import Host

HostDecision = Literal["go", "allow", "deny", "ask", "defer", "halt", "continue_work"]
Answer = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """`go` is no opinion, `continue_work` sends an agent that would stop back to work.

    `reason` says why, `context` is told to the model beside it, `updated` is the whole
    input of the tool as it is to run.
    """

    decision: HostDecision = "go"
    reason: str = ""
    context: str = ""
    updated: dict[str, Any] | None = None


GO = Outcome()


def add_notes(outcome: Outcome, notes: Sequence[str]) -> Outcome:
    """What people wrote, for the model: where a reason is all that it reads, with that."""
    told = "\n".join(notes)
    if not told or outcome.decision == "halt":
        return outcome
    if outcome.decision in {"deny", "continue_work"}:
        return replace(outcome, reason=f"{outcome.reason}\n{told}")
    context = "\n".join(filter(None, (outcome.context, told)))
    return replace(outcome, context=context)


def build_host_answer(host: Host, event: str, outcome: Outcome) -> Answer:
    match event:
        case "PreToolUse":
            return _build_pre_tool_answer(host, outcome)
        case "PermissionRequest":
            return _build_permission_answer(outcome)
        case "SessionStart" if outcome.decision == "halt":
            # Nothing can be stopped yet: the person and the model are told.
            told = _build_context_answer(event, outcome.reason)
            return {"systemMessage": outcome.reason, **told}
        case "SessionEnd":
            return {"systemMessage": outcome.reason} if outcome.reason else {}
        case _:
            return _build_later_answer(event, outcome)


def build_failure_answer(host: Host, event: str, reason: str) -> Answer:
    """What holds at this event when we could not judge: never a way to go on."""
    before = event in {"PreToolUse", "PermissionRequest"}
    held = Outcome(decision="deny" if before else "halt", reason=reason)
    return build_host_answer(host, event, held)


def choose_parked_decision(host: Host, *, headless: bool) -> HostDecision:
    """What to say of a call when nobody ruled on it in time."""
    if host == "codex":
        return "deny"
    return "defer" if headless else "ask"


def _build_pre_tool_answer(host: Host, outcome: Outcome) -> Answer:
    decision, halts = outcome.decision, {}
    if decision == "halt" and host == "claude-code":
        halts = {"continue": False, "stopReason": outcome.reason}
    if decision in {"halt", "continue_work"}:
        decision = "deny"
    if host == "codex":
        if decision in {"ask", "defer"}:
            decision = "deny"
        if decision == "allow" and outcome.updated is None:
            decision = "go"
    if decision == "go":
        return _build_context_answer("PreToolUse", outcome.context)
    said: Answer = {"hookEventName": "PreToolUse", "permissionDecision": decision}
    if outcome.reason:
        said["permissionDecisionReason"] = outcome.reason
    if outcome.updated is not None and decision == "allow":
        said["updatedInput"] = outcome.updated
    if outcome.context:
        said["additionalContext"] = outcome.context
    return {**halts, "hookSpecificOutput": said}


def _build_later_answer(event: str, outcome: Outcome) -> Answer:
    """The tool has run, or there was none: there is the agent itself to halt."""
    if outcome.decision == "halt":
        return {"continue": False, "stopReason": outcome.reason}
    if outcome.decision == "continue_work":
        return {"decision": "block", "reason": outcome.reason}
    return _build_context_answer(event, outcome.context)


def _build_permission_answer(outcome: Outcome) -> Answer:
    """Neither host is given a changed input here: Codex would refuse it."""
    if outcome.decision == "go":
        return {}
    decision: Answer = {"behavior": "allow"}
    if outcome.decision != "allow":
        decision = {"behavior": "deny", "message": outcome.reason}
    said = {"hookEventName": "PermissionRequest", "decision": decision}
    return {"hookSpecificOutput": said}


def _build_context_answer(event: str, text: str) -> Answer:
    if not text:
        return {}
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
