"""Rules for tool calls as a table: what each leads to, and what people answered."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from guidance.core.arguments import is_allowlisted
from guidance.core.policy import Policy
from guidance.core.policy.meaning import CALL_WORDS
from guidance.core.shell_commands.rules import RULES
from reviews.queue.rule_counts import RuleCount
from safetext import make_visible_line

_TONES = {"allow": "go", "warn": "", "require-confirmation": "pause", "block": "stop"}
# What a decision on a call is called here, and its tone.
DECISIONS = {each: (CALL_WORDS[each], tone) for each, tone in _TONES.items()}
_STAR = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleRow:
    """`usual` is what is built in, where the policy says otherwise; the figures are of
    the last days, and None where nobody was asked."""

    rule: str
    about: str
    decision: str
    tone: str
    usual: str
    asked: int
    approved: int
    denied: int


def list_rule_rows(policy: Policy, counts: Iterable[RuleCount]) -> tuple[RuleRow, ...]:
    """Rules that the policy names, its own ones, and those that asked somebody."""
    own = {pattern.name: pattern for pattern in policy.tools.patterns}
    named = [*policy.tools.rules, *own]
    asked = {
        each.rule: each for each in counts if each.rule in RULES or each.rule in own
    }
    names = [*named, *(name for name in asked if name not in named)]
    rows = []
    for name in dict.fromkeys(names):
        built_in, pattern = RULES.get(name), own.get(name)
        usual = built_in.decision if built_in else ""
        decision = policy.tools.rules.get(name, pattern.decision if pattern else "")
        if built_in:
            # A guard's rule stays as strict as it is built in, whatever the policy says.
            decision = policy.tools.decide(name, default=usual)
        word, tone = DECISIONS[decision]
        found = [each for each in asked.values() if is_allowlisted(each.rule, [name])]
        rows.append(
            RuleRow(
                rule=make_visible_line(name),
                about=_describe(name, pattern.message if pattern else ""),
                decision=word,
                tone=tone,
                usual=DECISIONS[usual][0] if usual and usual != decision else "",
                asked=sum(each.asked for each in found),
                approved=sum(each.approved for each in found),
                denied=sum(each.denied + each.aborted for each in found),
            )
        )
    return tuple(rows)


def _describe(name: str, message: str) -> str:
    if name in RULES:
        return RULES[name].message
    if name.endswith(_STAR):
        count = sum(is_allowlisted(each, [name]) for each in RULES)
        return f"{count} rules"
    return make_visible_line(message)
