"""Tool rules that people always approve: their record, and the milder rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from guidance.core.arguments import is_allowlisted
from guidance.core.policy import Policy
from guidance.core.policy.rule_drafts import build_warning_draft
from guidance.core.shell_commands.rules import RULES
from reviews.queue.rule_counts import RuleCount, RuleCounts

ASKS = "require-confirmation"
WARNS = "warn"
_CRITICAL = "critical"


def list_rule_suggestions(
    policy: Policy, document: Mapping[str, Any], counts: RuleCounts
) -> Iterator[dict[str, Any]]:
    """Approved as often as the policy says is often, and never anything else."""
    least = policy.loop.learn.always_approved.at_least
    for count in counts.rules:
        if count.approved < least or count.answered != count.approved:
            continue
        if not is_softened(policy, count.rule):
            continue
        if build_warning_draft(document, count.rule) in (None, document):
            continue
        yield _build_suggestion(policy, count)


def is_softened(policy: Policy, rule: str) -> bool:
    """Whether it asks today, and may do less: not what guards the guard, what is as bad
    as can be, or what the policy has asked about whatever people permit."""
    if is_allowlisted(rule, policy.tools.always_ask):
        return False
    built_in = RULES.get(rule)
    if built_in is not None:
        asks = policy.tools.decide(rule, default=built_in.decision) == ASKS
        return asks and built_in.severity != _CRITICAL
    return any(
        each.name == rule and each.decision == ASKS for each in policy.tools.patterns
    )


def name_setting(policy: Policy, rule: str) -> str:
    """Where its decision stands in a policy."""
    own = any(each.name == rule for each in policy.tools.patterns)
    return f"tools.patterns.{rule}" if own else f"tools.rules.{rule}"


def _build_suggestion(policy: Policy, count: RuleCount) -> dict[str, Any]:
    return {
        "setting": name_setting(policy, count.rule),
        **count.to_json(),
        "before": ASKS,
        "after": WARNS,
        "calls": [call._asdict() for call in count.newest],
    }
