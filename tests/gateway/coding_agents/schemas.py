"""What the hosts document as answers of a hook, as JSON Schema: nothing more is taken.

Claude Code: the types of its Agent SDK 0.3.325. Codex: the schemas its hooks are
generated from, narrowed to what 0.166 does not report as a failed hook.
"""

from __future__ import annotations

from typing import Any

import jsonschema_rs

Schema = dict[str, Any]
TEXT: Schema = {"type": "string", "minLength": 1}
COMMON: Schema = {
    "continue": {"type": "boolean"},
    "stopReason": TEXT,
    "systemMessage": TEXT,
}


def closed(properties: Schema, *required: str, **more: Any) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
        **more,
    }


def specific(event: str, **properties: Schema) -> Schema:
    return closed({"hookEventName": {"const": event}, **properties}, "hookEventName")


def told(event: str, **more: Schema) -> Schema:
    """An event whose hook may add to what the model is told."""
    context = specific(event, additionalContext=TEXT)
    return closed({**COMMON, "hookSpecificOutput": context, **more})


BLOCK: Schema = {"decision": {"const": "block"}, "reason": TEXT}
# A decision to go on needs its reason: it is what the model is told.
STOP = closed({**COMMON, **BLOCK}, dependentRequired={"decision": ["reason"]})
PERMISSION = closed(
    {
        "hookSpecificOutput": specific(
            "PermissionRequest",
            decision={
                "oneOf": [
                    closed({"behavior": {"const": "allow"}}, "behavior"),
                    closed(
                        {"behavior": {"const": "deny"}, "message": TEXT},
                        "behavior",
                        "message",
                    ),
                ]
            },
        )
    }
)
SHARED: dict[str, Schema] = {
    "Stop": STOP,
    "SubagentStop": STOP,
    "PostToolUse": told("PostToolUse", **BLOCK),
    "SessionStart": told("SessionStart"),
    "UserPromptSubmit": told("UserPromptSubmit", **BLOCK),
    "SessionEnd": closed({"systemMessage": TEXT}),
    "PermissionRequest": PERMISSION,
}
DENY: Schema = {
    "if": {
        "properties": {"permissionDecision": {"const": "deny"}},
        "required": ["permissionDecision"],
    },
    "then": {"required": ["permissionDecisionReason"]},
}
BEFORE: Schema = {
    "permissionDecisionReason": TEXT,
    "updatedInput": {"type": "object"},
    "additionalContext": TEXT,
}


def claude_before() -> Schema:
    decisions = {"enum": ["allow", "deny", "ask", "defer"]}
    said = specific("PreToolUse", permissionDecision=decisions, **BEFORE)
    return {
        **closed({**COMMON, "hookSpecificOutput": {**said, **DENY}}),
        # A hook that only says `continue: false` does not keep the tool from running.
        "if": {"properties": {"continue": {"const": False}}, "required": ["continue"]},
        "then": {
            "required": ["hookSpecificOutput", "stopReason"],
            "properties": {
                "hookSpecificOutput": {
                    "required": ["permissionDecision"],
                    "properties": {"permissionDecision": {"const": "deny"}},
                }
            },
        },
    }


def codex_before() -> Schema:
    """`allow` must bring a changed input; `ask`, `defer` and a halt are failures."""
    said = specific(
        "PreToolUse", permissionDecision={"enum": ["allow", "deny"]}, **BEFORE
    )
    allow = {
        "if": {
            "properties": {"permissionDecision": {"const": "allow"}},
            "required": ["permissionDecision"],
        },
        "then": {"required": ["updatedInput"]},
    }
    return closed({"hookSpecificOutput": {**said, "allOf": [DENY, allow]}})


SCHEMAS: dict[str, dict[str, Schema]] = {
    "claude-code": {
        **SHARED,
        "PreToolUse": claude_before(),
        "PostToolUseFailure": told("PostToolUseFailure"),
    },
    "codex": {**SHARED, "PreToolUse": codex_before()},
}


def check_answer(dialect: str, event: str, answer: Any) -> dict[str, Any]:
    jsonschema_rs.validate(SCHEMAS[dialect][event], answer)
    checked: dict[str, Any] = answer
    return checked
