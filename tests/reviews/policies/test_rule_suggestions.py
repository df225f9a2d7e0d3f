"""Which rules may be suggested to warn: those that people always approve, and no guard."""

from __future__ import annotations

from typing import Any

import pytest

from guidance.core.policy import load_policy
from guidance.core.shell_commands.rules import RULES
from guidance.core.tools.first_look import ALWAYS_ASKED
from reviews.policies.suggestions.rules import list_rule_suggestions
from reviews.queue.rule_counts import RuleCount, RuleCounts

pytestmark = pytest.mark.once("uses no database")

OWN = {"name": "prod", "pattern": "prod", "message": "Names production"}
CRITICAL = next(rule.name for rule in RULES.values() if rule.severity == "critical")


def list_suggested(
    rule: str, document: dict[str, Any] | None = None, **answers: Any
) -> list[str]:
    document = document or {}
    count = RuleCount(rule=rule, gate="destructive", asked=99, **answers)
    counts = RuleCounts(rules=(count,), reviews=99, counted_all=True)
    found = list_rule_suggestions(load_policy(document), document, counts)
    return [each["setting"] for each in found]


@pytest.mark.parametrize(
    "answers",
    [
        {"approved": 19},
        {"approved": 20, "denied": 1},
        {"approved": 20, "amended": 1},
        {"approved": 20, "aborted": 1},
        {"waiting": 99},
    ],
)
def test_too_few_approvals_or_one_other_answer_suggest_nothing(
    answers: dict[str, Any],
) -> None:
    assert list_suggested("delete-folder", **answers) == []


def test_as_often_as_the_policy_says_is_often() -> None:
    assert list_suggested("delete-folder", approved=20, expired=3) == [
        "tools.rules.delete-folder"
    ]
    often = {"loop": {"learn": {"always_approved": {"at_least": 50}}}}
    assert list_suggested("delete-folder", often, approved=49) == []
    assert list_suggested("delete-folder", often, approved=50) != []


@pytest.mark.parametrize("rule", [*sorted(ALWAYS_ASKED), CRITICAL, "confirm", "gone"])
def test_what_no_policy_may_lower_is_never_suggested(rule: str) -> None:
    assert list_suggested(rule, approved=1_000) == []


def test_a_rule_that_is_asked_about_whatever_is_permitted_stays() -> None:
    always = {"tools": {"always_ask": ["delete-*"]}}
    assert list_suggested("delete-folder", always, approved=1_000) == []


def test_a_rule_that_asks_no_longer_is_not_suggested() -> None:
    for rules in ({"delete-folder": "warn"}, {"delete-*": "allow"}):
        milder = {"tools": {"rules": rules}}
        assert list_suggested("delete-folder", milder, approved=1_000) == []


def test_an_own_rule_is_suggested_where_it_asks() -> None:
    own = {"tools": {"patterns": [OWN]}}
    assert list_suggested("prod", own, approved=20) == ["tools.patterns.prod"]
    noted = {"tools": {"patterns": [{**OWN, "decision": "warn"}]}}
    assert list_suggested("prod", noted, approved=20) == []
