"""A finding on a call that one rule speaks about, without a command being read."""

from __future__ import annotations

from guidance.core.shell_commands.rules import RULES
from guidance.core.tools.findings import CallFinding
from guidance.core.tools.section import ToolRules
from guidance.core.tools.texts import Text

_LONGEST = 500


def make_rule_finding(rules: ToolRules, name: str, text: Text) -> CallFinding | None:
    """None where the policy lets it through."""
    rule = RULES[name]
    decision = rules.decide(name, default=rule.decision)
    if decision == "allow":
        return None
    details: dict[str, object] = {
        "rule": name,
        "severity": rule.severity,
        "why": rule.why,
        "text": text.text[:_LONGEST],
        "argument": text.place,
        "span": None,
    }
    if name.startswith("opaque"):
        details["uninspectable"] = True
    return CallFinding(
        gate=rule.family,
        decision=decision,
        message=rule.message,
        remediation=rule.advice,
        details=details,
    )
