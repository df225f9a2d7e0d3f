"""Violations: rules that were broken, as gates find them in calls and steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from guidance.core.outcomes.facts import TEXT_LIMIT
from guidance.core.outcomes.severity import SEVERITIES
from guidance.core.shell_commands.rules import RULES
from guidance.core.shell_commands.rules.rule import DESTRUCTIVE

# What a finding without a severity of its own counts as. Slips of a model, and a budget
# that is used up, are no rules broken on purpose.
_CALL_DECISIONS = {"block": "high", "require-confirmation": "medium", "warn": "low"}
_SLIPS = frozenset({"arguments", "schema", "budget", "multi_edit", "diff_size"})
_STEP_DECISIONS = {"stop": "high", "pause": "medium"}
# An agent that asks to be asked, or a tool that always is, breaks no rule; what a model
# refuses counts by the rule that had stopped it; and a limit that runs share is used up by
# others.
NO_VIOLATIONS = frozenset({"confirm", "first_look", "permission", "limits"})
RULE_LIMIT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class GateViolation:
    """`destructive`: a person would be asked about it, unless the policy says otherwise."""

    rule: str
    severity: str
    gate: str
    decision: str
    text: str
    destructive: bool = False

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def list_call_violations(findings: Iterable[Mapping[str, Any]]) -> list[GateViolation]:
    """One for each rule, the worst of its findings, which are as the entry has them."""
    found: dict[str, GateViolation] = {}
    for finding in findings:
        if finding["gate"] in NO_VIOLATIONS or finding["decision"] == "allow":
            continue
        details = finding["details"]
        violation = GateViolation(
            rule=str(details.get("rule") or finding["gate"])[:RULE_LIMIT],
            severity=_get_severity(finding),
            gate=finding["gate"],
            decision=finding["decision"],
            text=str(details.get("text") or finding["message"])[:TEXT_LIMIT],
            destructive=_is_destructive(finding),
        )
        known = found.get(violation.rule)
        if known is None or _get_rank(violation) < _get_rank(known):
            found[violation.rule] = violation
    return list(found.values())


def list_step_violations(findings: Iterable[Mapping[str, Any]]) -> list[GateViolation]:
    return [
        GateViolation(
            rule=finding["gate"],
            severity=_STEP_DECISIONS[finding["decision"]],
            gate=finding["gate"],
            decision=finding["decision"],
            text=finding["message"][:TEXT_LIMIT],
        )
        for finding in findings
        if finding["decision"] in _STEP_DECISIONS
        and finding["gate"] not in NO_VIOLATIONS
    ]


def _get_rank(violation: GateViolation) -> int:
    return SEVERITIES.index(violation.severity)


def _get_severity(finding: Mapping[str, Any]) -> str:
    severity = finding["details"].get("severity")
    if severity in SEVERITIES:
        return str(severity)
    if finding["gate"] in _SLIPS:
        return "low"
    return _CALL_DECISIONS[finding["decision"]]


def _is_destructive(finding: Mapping[str, Any]) -> bool:
    """What could not be read is not known to destroy anything."""
    details = finding["details"]
    rule = RULES.get(details.get("rule", ""))
    return (
        finding["gate"] == DESTRUCTIVE
        and not details.get("uninspectable")
        and rule is not None
        and rule.decision in ("require-confirmation", "block")
    )
