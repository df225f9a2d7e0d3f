"""A policy document with one thing changed, and all else as it was."""

from __future__ import annotations

from typing import Any

import pytest

from guidance.core.policy.drafts import (
    GATE_SETTINGS,
    allow_tools,
    copy_rule,
    copy_settings,
    has_same_rule,
)
from guidance.core.policy.sentences import SETTINGS
from guidance.core.steps.gates import REGISTRY

OWN = {"name": "prod", "pattern": "prod", "decision": "block", "message": "Careful"}
OTHER = {**OWN, "name": "other"}
SOFT = {**OWN, "decision": "warn"}
Document = dict[str, Any]


def test_every_gate_of_a_step_has_its_settings() -> None:
    assert set(GATE_SETTINGS) == set(REGISTRY)
    assert {path for paths in GATE_SETTINGS.values() for path in paths} <= set(SETTINGS)


@pytest.mark.parametrize(
    ("document", "allowlist"),
    [
        ({}, {"tools": ["b", "a"]}),
        (
            {"tools": {"allowlist": {"enabled": True, "tools": ["a"]}}},
            {"enabled": True, "tools": ["a", "b"]},
        ),
    ],
)
def test_tools_are_added_once_behind_the_others(
    document: Document, allowlist: Document
) -> None:
    assert allow_tools(document, ["b", "a"]) == {"tools": {"allowlist": allowlist}}


@pytest.mark.parametrize(
    ("document", "source", "changed"),
    [
        ({"budget": {"tokens": 5}}, {}, {}),
        ({"budget": {"tokens": 5}}, {"budget": {}}, {"budget": {}}),
        ({"budget": {"tokens": 5}}, {"budget": {"tokens": None}}, None),
        ({"budget": {"tokens": 5, "time_ms": 1}}, {}, {"budget": {"time_ms": 1}}),
        ({}, {"budget": {"tokens": 7, "time_ms": 1}}, {"budget": {"tokens": 7}}),
    ],
)
def test_a_setting_is_what_the_other_says(
    document: Document, source: Document, changed: Document | None
) -> None:
    expected = source if changed is None else changed
    assert copy_settings(document, source, ["budget.tokens"]) == expected


@pytest.mark.parametrize(
    ("document", "source", "changed"),
    [
        ({"patterns": [OTHER, SOFT]}, {"patterns": [OWN]}, {"patterns": [OTHER, OWN]}),
        ({"patterns": [SOFT, OTHER]}, {}, {"patterns": [OTHER]}),
        ({"patterns": [SOFT]}, {}, None),
        ({}, {"patterns": [OTHER, OWN]}, {"patterns": [OWN]}),
    ],
)
def test_an_own_pattern_is_what_it_is_in_the_other(
    document: Document, source: Document, changed: Document | None
) -> None:
    before, other = {"tools": document}, {"tools": source} if source else {}
    assert not has_same_rule(before, other, "prod")
    expected = {} if changed is None else {"tools": changed}
    assert copy_rule(before, other, "prod") == expected


@pytest.mark.parametrize(
    ("rules", "source", "changed"),
    [
        ({"git-push-force": "warn"}, {}, None),
        ({"git-push-force": "warn", "git-*": "block"}, {"git-*": "block"}, None),
        (
            {"git-*": "block"},
            {},
            {"git-*": "block", "git-push-force": "require-confirmation"},
        ),
        ({}, {"git-*": "block"}, {"git-push-force": "block"}),
    ],
)
def test_a_built_in_rule_leads_to_what_it_does_in_the_other(
    rules: Document, source: Document, changed: Document | None
) -> None:
    document, other = {"tools": {"rules": rules}}, {"tools": {"rules": source}}
    assert not has_same_rule(document, other, "git-push-force")
    result = copy_rule(document, other, "git-push-force")
    assert result == {"tools": {"rules": source if changed is None else changed}}
    assert has_same_rule(result, other, "git-push-force")
