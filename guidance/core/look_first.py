"""A model looks at a call before a person is asked about it.

It may answer only what the policy leaves to it. Where it is not sure, says nothing or
nonsense, and in a share that the policy chooses, a person is asked as before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from guidance.core.arguments import is_allowlisted
from guidance.core.plans.matching import (
    ASKS,
    REVIEW,
    AskedRules,
    find_unanswerable,
    list_asking,
    name_asking_rule,
)
from guidance.core.policy import Policy
from guidance.core.reviews.four_eyes import count_needed
from guidance.core.tools.findings import CallFinding
from guidance.core.tools.judge_call import CallVerdict

GATE = "first_look"
ALLOW, DENY, ASK = "allow", "deny", "ask"
# Of several edits the text that they change is not known.
_KINDS = frozenset({"command", "tool", "edit"})
# What people wrote themselves: a rule of their own, and a tool that always needs one.
_OWN_GATES = frozenset({"patterns", "confirm"})
_WOULD = {ALLOW: "let it through", DENY: "refuse it"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What a model said of a call; `trouble` is why it said nothing that counts. `blind`:
    a person decides, and is not told."""

    answer: str | None
    reason: str = ""
    model: str = ""
    blind: bool = False
    trouble: str | None = None

    def settles(self, may: tuple[str, ...]) -> bool:
        """Whether nobody else is asked. `may` is what the policy lets it settle."""
        return (
            self.trouble is None
            and not self.blind
            and self.answer in (ALLOW, DENY)
            and self.answer in may
        )


def may_look(
    verdict: CallVerdict, *, policy: Policy, labels: Mapping[str, str]
) -> bool:
    """Whether the policy leaves the answer to a model: every rule that asks is named, none
    is critical, asked about every time, of people's own making, or takes two people."""
    look = policy.tools.first_look
    if not look.enabled or verdict.decision != ASKS or verdict.call.kind not in _KINDS:
        return False
    if find_unanswerable(verdict) is not None:
        return False
    asking = list_asking(verdict.findings)
    return (
        bool(asking)
        and all(_is_left_to_it(finding, policy) for finding in asking)
        and not _takes_several(asking, policy, labels)
    )


def apply_look(
    verdict: CallVerdict,
    look: Look | None,
    *,
    policy: Policy,
    labels: Mapping[str, str],
) -> CallVerdict:
    """With what the model said, as far as the policy lets it count."""
    if look is None or not may_look(verdict, policy=policy, labels=labels):
        return verdict
    if look.blind:
        return verdict
    if not look.settles(policy.tools.first_look.may):
        return _add(verdict, look, ALLOW, _describe_doubt(look))
    if look.answer == ALLOW:
        message = f"A model looked first and lets it through: {look.reason}"
        return replace(_add(verdict, look, ALLOW, message), decision=ALLOW)
    message = f"A model looked first and refuses it: {look.reason}"
    advice = "Do something else, or send it with confirm to have a person look at it."
    refused = _add(verdict, look, "block", message, remediation=advice)
    return replace(refused, decision="block")


def build_look_facts(
    before: CallVerdict,
    look: Look | None,
    *,
    policy: Policy,
    labels: Mapping[str, str],
) -> dict[str, Any]:
    """What stands in the entry of a call that a model looked at. `before` is the verdict
    without that."""
    if look is None or not may_look(before, policy=policy, labels=labels):
        return {}
    return {
        GATE: {
            "answer": look.answer,
            "settles": look.settles(policy.tools.first_look.may),
            "blind": look.blind,
            "model": look.model,
            "reason": look.reason,
            "trouble": look.trouble,
        }
    }


def read_look_facts(payload: Mapping[str, Any]) -> Look | None:
    """What a model had said of a stored call."""
    facts = payload.get(GATE)
    if facts is None:
        return None
    names = ("answer", "reason", "model", "blind", "trouble")
    return Look(**{name: facts[name] for name in names})


def is_let_through(payload: Mapping[str, Any]) -> bool:
    """Whether a person would have been asked about this call, but for the model."""
    facts = payload.get(GATE) or {}
    return bool(facts.get("settles")) and facts["answer"] == ALLOW


def _is_left_to_it(finding: CallFinding, policy: Policy) -> bool:
    tools, rule = policy.tools, name_asking_rule(finding) or ""
    return (
        is_allowlisted(rule, tools.first_look.rules)
        and finding.gate not in _OWN_GATES
        and not _get_asked_rules(policy).needs_exact(finding)
        # Who wrote into the policy that this asks a person meant a person.
        and not any(is_allowlisted(rule, [name]) for name in tools.rules)
    )


def _takes_several(
    asking: list[CallFinding], policy: Policy, labels: Mapping[str, str]
) -> bool:
    needed = count_needed(
        policy.four_eyes,
        kind=REVIEW,
        severity=_get_asked_rules(policy).decide_severity(asking),
        names=[
            name
            for finding in asking
            for name in (finding.gate, name_asking_rule(finding) or "")
        ],
        labels=labels,
    )
    return needed > 1


def _get_asked_rules(policy: Policy) -> AskedRules:
    return AskedRules(
        always_ask=policy.tools.always_ask, severity=policy.reviews.severity
    )


def _describe_doubt(look: Look) -> str:
    if look.trouble is not None:
        return f"A model was to look first and could not: {look.trouble}"
    if look.answer == ASK:
        return f"A model looked first and asks a person: {look.reason}"
    would = _WOULD.get(look.answer or "", "say something else")
    return f"A model looked first and would {would}: {look.reason}"


def _add(
    verdict: CallVerdict,
    look: Look,
    decision: str,
    message: str,
    *,
    remediation: str | None = None,
) -> CallVerdict:
    finding = CallFinding(
        gate=GATE,
        decision=decision,
        message=message,
        remediation=remediation,
        details={"answer": look.answer, "model": look.model},
    )
    return replace(verdict, findings=(*verdict.findings, finding))
