"""MG rows: what a document says against what holds where it says nothing; and limits that
are raised in one."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from guidance.core.policy import load_policy
from guidance.core.policy.drafts import raise_limits
from guidance.core.runs.usage import Usage

LIMITS: dict[str, Any] = {
    "project_day": {"tokens": 100, "tool_calls": None, "cost_usd": "1.25"},
    "depth": 3,
}
DOCUMENT: dict[str, Any] = {
    "continue": {"min_coherence": 0.5},
    "tools": {"allowlist": {"tools": ["Read", "Edit"]}},
    "limits": LIMITS,
}


def test_mg_01_what_is_said_replaces_and_what_is_left_out_has_its_default() -> None:
    default, policy = load_policy({}), load_policy(DOCUMENT)
    assert policy.continue_limits.min_coherence == 0.5
    assert policy.continue_limits.max_uncertainty == (
        default.continue_limits.max_uncertainty
    )
    assert policy.budget == default.budget


def test_mg_02_null_lifts_a_limit_and_silence_keeps_it() -> None:
    lifted = load_policy({"limits": {"depth": None}, "budget": {"tokens": None}})
    assert (lifted.limits.depth, lifted.budget.tokens) == (None, None)
    assert lifted.limits.children == load_policy({}).limits.children
    assert lifted.budget.tool_calls == load_policy({}).budget.tool_calls


@pytest.mark.parametrize("tools", [["Read"], []])
def test_mg_03_a_list_is_replaced_whole(tools: list[str]) -> None:
    document = {"tools": {"allowlist": {"enabled": True, "tools": tools}}}
    assert list(load_policy(document).tools.allowlist or ()) == tools


def test_mg_04_an_object_that_stands_for_one_thing_is_replaced_whole() -> None:
    """A scope of limits, as the retries of a gate: what it leaves out is not taken over."""
    limits = load_policy({"limits": {"project_day": {"tokens": 5}}}).limits
    assert (limits.project_day.tokens, limits.project_day.cost_micros) == (5, None)


def test_mg_05_what_is_read_or_raised_stays_as_it_was() -> None:
    before = deepcopy(DOCUMENT)
    load_policy(DOCUMENT)
    raised = raise_limits(
        DOCUMENT,
        scope="project_day",
        more=Usage(tokens=50, tool_calls=5, cost_micros=500_000),
    )
    assert before == DOCUMENT
    assert raised["limits"] == {
        "project_day": {"tokens": 150, "tool_calls": None, "cost_usd": "1.75"},
        "depth": 3,
    }
    assert raised["continue"] == DOCUMENT["continue"]
