"""A difference between two policies, in words."""

from __future__ import annotations

from typing import Any

from guidance.core.policy.differences import list_differences
from guidance.core.policy.meaning import describe_difference, list_value_changes
from tests.support.rows import each_row


@each_row(
    "before, after, meaning",
    [
        (
            {"continue": {"max_rework_ratio": 0.3}},
            {"continue": {"max_rework_ratio": 0.25}},
            "Steps, Rework limit: 30 % → 25 %",
        ),
        (
            {},
            {"budget": {"cost_usd": None}},
            "Budget, Cost: $10.00 → no limit",
        ),
        (
            {"budget": {"tokens": 500}},
            {},
            "Budget, Tokens: 500 tokens → 1,000,000 tokens",
        ),
        (
            {},
            {"budget_ceiling": {"tokens": 5_000_000}},
            "Budget ceiling, Tokens: as budget.tokens → 5,000,000 tokens",
        ),
        (
            {"budget_ceiling": {"time_ms": None}},
            {},
            "Budget ceiling, Time: no limit → as budget.time_ms",
        ),
        (
            {"continue": {"repeat_limit": 3}},
            {},
            "Steps, Repetitions: 3 times, the default, as before",
        ),
        (
            {},
            {"tools": {"rules": {"git-*": "warn"}}},
            "Tool calls, Rules, git-*: not set → noted",
        ),
        (
            {"tools": {"rules": {"delete-folder": "warn"}}},
            {},
            "Tool calls, Rules, delete-folder: noted → asks a person (built in)",
        ),
        (
            {"gates": {"tests": {"retry": {"max_attempts": 3}}}},
            {"gates": {"tests": {"retry": {"max_attempts": 5}}}},
            "Quality gates, tests, Attempts, Attempts: 3 times → 5 times",
        ),
        (
            {"tools": {"schemas": {"a.b": {"type": "object"}}}},
            {},
            "Tool calls, Argument schemas, a.b, type: removed",
        ),
        (
            {"continue": {"throttle_base_ms": 5_000}},
            {"continue": {"throttle_base_ms": 1_500}},
            "Steps, First delay: 5 s → 1,500 ms",
        ),
        (
            {"tools": {"confirm": ["deploy"]}},
            {"tools": {"confirm": []}},
            "Tool calls, Always a person: deploy → none",
        ),
        (
            {"reviews": {"rulings_from_agents": True}},
            {"reviews": {"rulings_from_agents": False}},
            "Reviews, Rulings from agents: on → off",
        ),
    ],
)
def test_a_setting_is_called_by_its_label_and_counted_in_its_unit(
    before: dict[str, Any], after: dict[str, Any], meaning: str
) -> None:
    (difference,) = list_differences(before, after)
    assert describe_difference(difference) == meaning


@each_row(
    "before, after, told",
    [
        ({"prices": {"models": {}}}, {}, []),
        ({}, {"turns": {"models": {}}}, []),
        ({"continue": {"repeat_limit": 3}}, {}, []),
        (
            {"continue": {"repeat_limit": 3}},
            {"continue": {"repeat_limit": 4}},
            ["changed"],
        ),
        # Left out it is what is built in, which is not nothing.
        ({}, {"loop": {"rules": []}}, ["added"]),
        ({"tools": {"confirm": ["deploy"]}}, {}, ["removed"]),
    ],
)
def test_only_values_that_change_are_listed(
    before: dict[str, Any], after: dict[str, Any], told: list[str]
) -> None:
    assert [each.change for each in list_value_changes(before, after)] == told
