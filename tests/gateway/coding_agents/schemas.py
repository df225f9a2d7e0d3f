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


def build_object(properties: Schema, *required: str, **more: Any) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
        **more,
    }


def specific(event: str, **properties: Schema) -> Schema:
    return build_object(
        {"hookEventName": {"const": event}, **properties}, "hookEventName"
    )


def build_context_event(event: str, **more: Schema) -> Schema:
    """An event whose hook may add to what the model is told."""
    context = specific(event, additionalContext=TEXT)
    return build_object({**COMMON, "hookSpecificOutput": context, **more})


BLOCK: Schema = {"decision": {"const": "block"}, "reason": TEXT}
# A decision to go on needs its reason: it is what the model is told.
STOP = build_object({**COMMON, **BLOCK}, dependentRequired={"decision": ["reason"]})
PERMISSION = build_object(
    {
        "hookSpecificOutput": specific(
            "PermissionRequest",
            decision={
                "oneOf": [
                    build_object({"behavior": {"const": "allow"}}, "behavior"),
                    build_object(
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
    "PostToolUse": build_context_event("PostToolUse", **BLOCK),
    "SessionStart": build_context_event("SessionStart"),
    "UserPromptSubmit": build_context_event("UserPromptSubmit", **BLOCK),
    "SessionEnd": build_object({"systemMessage": TEXT}),
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
        **build_object({**COMMON, "hookSpecificOutput": {**said, **DENY}}),
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
    return build_object({"hookSpecificOutput": {**said, "allOf": [DENY, allow]}})


SCHEMAS: dict[str, dict[str, Schema]] = {
    "claude-code": {
        **SHARED,
        "PreToolUse": claude_before(),
        "PostToolUseFailure": build_context_event("PostToolUseFailure"),
    },
    "codex": {**SHARED, "PreToolUse": codex_before()},
}


def check_answer(dialect: str, event: str, answer: Any) -> dict[str, Any]:
    jsonschema_rs.validate(SCHEMAS[dialect][event], answer)
    checked: dict[str, Any] = answer
    return checked
