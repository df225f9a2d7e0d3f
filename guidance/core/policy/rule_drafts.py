"""The draft of a policy in which one rule warns instead of asking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from guidance.core.shell_commands.rules import RULES

# What loosens the guard itself is asked about whatever a policy says.
_NEVER_SOFTENED = "guard-tampering"
_APPROVED_SHARE = 0.95


def is_usually_approved(*, approved: int, answered: int) -> bool:
    """Decide by people's answers whether a rule asks in vain: nobody's answer says so."""
    return approved > 0 and approved >= _APPROVED_SHARE * answered


def build_warning_draft(
    document: Mapping[str, Any], rule: str
) -> dict[str, Any] | None:
    """The document with `warn` for a rule; None where that is no rule to be changed.

    An own pattern is changed where it stands, a built-in rule under `tools.rules`.
    """
    tools = dict(document.get("tools") or {})
    patterns = list(tools.get("patterns") or ())
    own = [pattern for pattern in patterns if pattern.get("name") == rule]
    if own:
        tools["patterns"] = [
            {**pattern, "decision": "warn"} if pattern in own else pattern
            for pattern in patterns
        ]
    elif rule in RULES and RULES[rule].family != _NEVER_SOFTENED:
        tools["rules"] = {**(tools.get("rules") or {}), rule: "warn"}
    else:
        return None
    return {**document, "tools": tools}
