"""How severe a review is: by rule, gate and kind, the worst of what asked."""

from __future__ import annotations

import pytest

from guidance.core.policy import load_policy
from guidance.core.policy.policy import PolicyError
from guidance.core.reviews.section import ReviewRules, SeverityRules
from guidance.core.reviews.severity import (
    Reason,
    choose_worst,
    decide_severity,
    raise_severity,
)
from tests.guidance.core.policy.dumps import dump_part

PUSH = Reason(gate="destructive", rule="git-push-force", severity="high")
UNSAID = Reason(gate="uncertainty", rule="uncertainty")
GUARDED = Reason(gate="guard-tampering", rule="guard-ruling", severity="critical")


def read_rules(**severity: object) -> SeverityRules:
    return load_policy({"reviews": {"severity": severity}}).reviews.severity


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({}, "high"),
        ({"rules": {"git-push-force": "low"}}, "low"),
        ({"rules": {"git-*": "medium", "git-push-*": "critical"}}, "critical"),
        ({"gates": {"destructive": "critical"}}, "critical"),
        ({"gates": {"destructive": "critical"}, "rules": {"git-*": "low"}}, "low"),
        ({"kinds": {"confirmation": "low"}}, "high"),
    ],
)
def test_a_rule_counts_before_its_gate_and_that_before_what_is_built_in(
    said: dict[str, object], expected: str
) -> None:
    rules = read_rules(**said)
    assert decide_severity(rules, kind="confirmation", reasons=[PUSH]) == expected


def test_the_worst_reason_counts_and_without_one_the_kind() -> None:
    rules = read_rules(kinds={"pause": "low"}, gates={"budget": "high"})
    other = Reason(gate="budget", rule="budget")
    assert decide_severity(rules, kind="pause", reasons=[UNSAID]) == "low"
    assert decide_severity(rules, kind="pause", reasons=[UNSAID, other]) == "high"
    assert decide_severity(rules, kind="question") == "low"
    assert decide_severity(rules, kind="policy_change") == "high"
    assert choose_worst(["info", "high", "low"]) == "high"


def test_what_touches_the_guard_is_never_made_less_severe() -> None:
    rules = read_rules(
        rules={"guard-*": "low"}, gates={"guard-tampering": "low", "destructive": "low"}
    )
    assert decide_severity(rules, kind="confirmation", reasons=[GUARDED]) == "critical"
    assert decide_severity(rules, kind="confirmation", reasons=[PUSH]) == "low"


@pytest.mark.parametrize(
    ("most", "decided", "asked", "found"),
    [
        (None, "low", "critical", "high"),
        (None, "low", "high", "high"),
        (None, "low", "medium", "medium"),
        (None, "critical", "low", "critical"),
        (None, "critical", None, "critical"),
        (None, "medium", None, "medium"),
        ("critical", "low", "critical", "critical"),
        ("low", "medium", "critical", "medium"),
        ("medium", "low", "high", "medium"),
    ],
)
def test_an_agent_asks_for_more_as_far_as_it_may(
    most: str | None, decided: str, asked: str | None, found: str
) -> None:
    rules = read_rules(**({"asked_at_most": most} if most else {}))
    assert raise_severity(rules, decided, asked=asked) == found


@pytest.mark.parametrize(
    ("reviews", "path"),
    [
        ({"severity": {"asked_at_most": "urgent"}}, "reviews.severity.asked_at_most"),
        ({"severity": {"rules": {"git-*": "awful"}}}, "reviews.severity.rules.git-*"),
        ({"severity": {"gates": {"a b": "low"}}}, "reviews.severity.gates.a b"),
        ({"severity": {"kinds": {"planet": "low"}}}, "reviews.severity.kinds.planet"),
        ({"deadlines": {"kinds": {"planet": {}}}}, "reviews.deadlines.kinds.planet"),
        (
            {"deadlines": {"severity": {"low": {"answer_within_s": 0}}}},
            "reviews.deadlines.severity.low.answer_within_s",
        ),
        ({"working_hours": {"days": []}}, "reviews.working_hours.days"),
        ({"working_hours": {"days": ["Monday"]}}, "reviews.working_hours.days.0"),
        ({"working_hours": {"begin": "9:00"}}, "reviews.working_hours.begin"),
        ({"working_hours": {"begin": "17:00"}}, "reviews.working_hours.begin"),
        (
            {"working_hours": {"holidays": ["2026-02-30"]}},
            "reviews.working_hours.holidays.0",
        ),
        ({"working_hours": {"zone": "../etc"}}, "reviews.working_hours.zone"),
    ],
)
def test_what_is_wrong_is_named(reviews: dict[str, object], path: str) -> None:
    with pytest.raises(PolicyError) as caught:
        load_policy({"reviews": reviews})
    assert [each for each, _ in caught.value.errors] == [path]


def test_rules_are_written_as_they_are_read() -> None:
    document = {
        "severity": {"rules": {"git-*": "low"}},
        "deadlines": {"kinds": {"question": {"expires_after_s": 60}}},
        "working_hours": {"enabled": True, "holidays": ["2026-12-25"]},
    }
    rules = load_policy({"reviews": document}).reviews
    assert rules != ReviewRules()
    assert load_policy({"reviews": dump_part(rules)}).reviews == rules
