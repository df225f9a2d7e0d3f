"""A model looks at a call before a person is asked about it.

It may answer only what the policy leaves to it, and each call of a run once. Where it is not
sure, says nothing or nonsense, and in a share that the policy chooses, a person is asked as
before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from guidance.core.arguments import is_allowlisted
from guidance.core.canonical import hash_text, to_canonical_json
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
from guidance.core.runs.memory import LOOKED_LIMIT
from guidance.core.shell_commands import split_command
from guidance.core.tools.calls import Call, CommandCall, build_call
from guidance.core.tools.findings import CallFinding
from guidance.core.tools.judge_call import CallVerdict
from guidance.core.tools.permission_shapes import build_exact_text
from guidance.core.vocabulary import choose_most_severe_call

GATE = "first_look"
ALLOW, DENY, ASK = "allow", "deny", "ask"
# Of several edits the text that they change is not known.
_KINDS = frozenset({"command", "tool", "edit"})
# What people wrote themselves: a rule of their own, and a tool that always needs one.
_OWN_GATES = frozenset({"patterns", "confirm"})
_WOULD = {ALLOW: "let it through", DENY: "refuse it"}
_KEY_LENGTH = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What a model said of a call; `trouble` is why it said nothing that counts. `blind`:
    a person decides and nobody is told, but `sealed` proves later what it was."""

    answer: str | None
    reason: str = ""
    model: str = ""
    blind: bool = False
    trouble: str | None = None
    sealed: str | None = None

    def to_json(self) -> dict[str, Any]:
        """What the model said, without what is made of it."""
        return {"answer": self.answer, "reason": self.reason, "model": self.model}

    def seal(self, salt: str) -> Look:
        """As it stands in the ledger, which everybody of the project reads."""
        text = to_canonical_json({**self.to_json(), "salt": salt})
        return Look(answer=None, blind=True, sealed=hash_text(text))

    def settles(self, may: tuple[str, ...]) -> bool:
        """Whether nobody else is asked. `may` is what the policy lets it settle."""
        return (
            self.trouble is None
            and not self.blind
            and self.answer in (ALLOW, DENY)
            and self.answer in may
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LookRules:
    """What a policy leaves to a model in a run; `looked` is what that run remembers."""

    policy: Policy
    labels: Mapping[str, str]
    looked: tuple[str, ...]

    def may_look(self, verdict: CallVerdict) -> bool:
        """Every rule that asks is named in the policy; none is critical, asked about every
        time, of people's own making, or takes two people; and neither this call nor its
        rules were answered in this run before."""
        look = self.policy.tools.first_look
        if not look.enabled or verdict.decision != ASKS:
            return False
        if verdict.call.kind not in _KINDS or find_unanswerable(verdict) is not None:
            return False
        asking = list_asking(verdict.findings)
        return (
            bool(asking)
            and all(self._leaves(finding) for finding in asking)
            and not self._takes_several(asking)
            and len(self.looked) < LOOKED_LIMIT
            and not {*_list_marks(verdict.call, asking)} & {*self.looked}
        )

    def apply_look(self, verdict: CallVerdict, look: Look | None) -> CallVerdict:
        """With what the model said, as far as the policy lets it count."""
        if look is None or look.blind or not self.may_look(verdict):
            return verdict
        if not look.settles(self.policy.tools.first_look.may):
            return _add(verdict, look, ALLOW, _describe_doubt(look))
        if look.answer == ALLOW:
            message = f"A model looked first and lets it through: {look.reason}"
            # What else was found stays: a warning is still one.
            rest = [each.decision for each in verdict.findings if each.decision != ASKS]
            decision = choose_most_severe_call([ALLOW, *rest])
            return replace(_add(verdict, look, ALLOW, message), decision=decision)
        message = f"A model looked first and refuses it: {look.reason}"
        advice = "Do something else, or send it with confirm to have a person look."
        refused = _add(verdict, look, "block", message, remediation=advice)
        return replace(refused, decision="block")

    def build_facts(self, before: CallVerdict, look: Look | None) -> dict[str, Any]:
        """What stands in the entry of a call that a model looked at. `before` is the
        verdict without that."""
        if look is None or not self.may_look(before):
            return {}
        return {
            GATE: {
                "answer": look.answer,
                "settles": look.settles(self.policy.tools.first_look.may),
                "blind": look.blind,
                "model": look.model,
                "reason": look.reason,
                "trouble": look.trouble,
                **({"sealed": look.sealed} if look.sealed else {}),
            }
        }

    def _leaves(self, finding: CallFinding) -> bool:
        tools, rule = self.policy.tools, name_asking_rule(finding) or ""
        return (
            is_allowlisted(rule, tools.first_look.rules)
            and finding.gate not in _OWN_GATES
            and not self._get_asked_rules().needs_exact(finding)
            # Who wrote into the policy that this asks a person meant a person.
            and not any(is_allowlisted(rule, [name]) for name in tools.rules)
        )

    def _takes_several(self, asking: list[CallFinding]) -> bool:
        needed = count_needed(
            self.policy.four_eyes,
            kind=REVIEW,
            severity=self._get_asked_rules().decide_severity(asking),
            names=[
                name
                for finding in asking
                for name in (finding.gate, name_asking_rule(finding) or "")
            ],
            labels=self.labels,
        )
        return needed > 1

    def _get_asked_rules(self) -> AskedRules:
        return AskedRules(
            always_ask=self.policy.tools.always_ask,
            severity=self.policy.reviews.severity,
        )


def read_look_facts(payload: Mapping[str, Any]) -> Look | None:
    """What a model had said of a stored call, as far as its entry tells."""
    facts = payload.get(GATE)
    if facts is None:
        return None
    names = ("answer", "reason", "model", "blind", "trouble")
    return Look(**{name: facts[name] for name in names}, sealed=facts.get("sealed"))


def remember_look(
    looked: tuple[str, ...], payload: Mapping[str, Any]
) -> tuple[str, ...]:
    """With a call that was judged: unless the model let it through it is not looked at
    again in this run, and where it refused it, nothing else is that its rules ask about.
    Who asks again until the answer is yes would always get one."""
    if GATE not in payload or is_let_through(payload):
        return looked
    call = build_call(**{name: payload[name] for name in ("kind", "tool", "shown")})
    refused = payload[GATE]["answer"] == DENY
    findings = [CallFinding.from_json(each) for each in payload["findings"]]
    marks = [_build_mark(call)]
    if refused:
        marks += map(_mark_rule, list_asking(findings))
    return tuple(dict.fromkeys((*looked, *marks)))


def is_let_through(payload: Mapping[str, Any]) -> bool:
    """Whether a person would have been asked about this call, but for the model."""
    facts = payload.get(GATE) or {}
    return bool(facts.get("settles")) and facts["answer"] == ALLOW


def _list_marks(call: Call, asking: list[CallFinding]) -> Iterator[str]:
    yield _build_mark(call)
    yield from map(_mark_rule, asking)


def _build_mark(call: Call) -> str:
    """The same for a command however it is spaced, quoted or commented."""
    text = build_exact_text(call)
    if isinstance(call, CommandCall):
        parts = split_command(call.command)
        words = [[token.text for token in part.tokens] for part in parts]
        if any(words):
            text = to_canonical_json([call.tool, words])
    return hash_text(text).partition(":")[2][:_KEY_LENGTH]


def _mark_rule(finding: CallFinding) -> str:
    return f"rule:{name_asking_rule(finding)}"


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
