"""What a policy says of tools, gates, checks and turns, and what it may not say."""

from __future__ import annotations

from dataclasses import fields

import pytest

from guidance.core.checks import read_gate
from guidance.core.policy import CheckRules, Policy, load_policy
from guidance.core.turns.phrases import Phrases
from guidance.core.turns.section import TurnRules
from tests.guidance.core.policy.dumps import dump_policy
from tests.guidance.core.policy.refusals import problems
from tests.support.rows import each_row

TESTS = read_gate(
    {
        "id": "tests",
        "name": "Test suite",
        "description": "They pass.",
        "severity": "critical",
        "mode": "advisory",
        "criteria": [
            "Each has a reason",
            {"text": "All pass", "verifier": "command", "command": "make test"},
            {"text": "They say what they test", "verifier": "judge"},
        ],
        "guidance": "Run them.\nThen read them.",
        "retry": {"max_attempts": 4, "improvement_hints": False},
    }
)
OWN_WORDS = TurnRules(
    threshold=101, intent_phrases=Phrases(("weiter geht es",)), nudge="Weiter."
)


@pytest.mark.parametrize(
    "policy",
    [
        Policy(checks=CheckRules(max_resets=0), gates={"tests": TESTS}),
        Policy(turns=TurnRules(intent_phrases=Phrases(()), models={"a*": OWN_WORDS})),
    ],
    ids=["gates", "turns"],
)
def test_a_policy_survives_its_document(policy: Policy) -> None:
    assert load_policy(dump_policy(policy)) == policy


@each_row(
    ("document", "path", "why"),
    [
        pytest.param(
            {"tools": {"max_diff_lines": -1}},
            "tools.max_diff_lines",
            "must be from 0 to 1000000",
            id="fewer-lines-than-none",
        ),
        pytest.param(
            {"tools": {"allowlist": ["Read"]}},
            "tools.allowlist",
            "must be an object",
            id="list-for-allowlist",
        ),
        pytest.param(
            {"tools": {"idempotent": "Read"}},
            "tools.idempotent",
            "must be a list of at most 500 texts",
            id="text-for-list",
        ),
        pytest.param(
            {"checks": {"max_resets": None}},
            "checks.max_resets",
            "must be a whole number",
            id="null-for-resets",
        ),
        pytest.param(
            {"checks": {"resets": 1}}, "checks.resets", "unknown key", id="checks-typo"
        ),
        pytest.param(
            {"gates": []},
            "gates",
            "must be an object of at most 100 objects",
            id="list-for-gates",
        ),
        pytest.param(
            {"gates": None},
            "gates",
            "must be an object of at most 100 objects",
            id="null-for-gates",
        ),
        pytest.param(
            {"gates": {"x": None}}, "gates.x", "must be an object", id="null-for-a-gate"
        ),
        pytest.param(
            {"gates": {f"gate-{n}": {} for n in range(101)}},
            "gates",
            "must be an object of at most 100 objects",
            id="too-many-gates",
        ),
        pytest.param(
            {"gates": {"x": {"id": "y"}}},
            "gates.x.id",
            "the key of a gate is its id",
            id="gate-with-an-id",
        ),
        pytest.param(
            {"gates": {"x": {"severity": None}}},
            "gates.x.severity",
            "must be one of critical, high, medium, low",
            id="null-for-severity",
        ),
        pytest.param(
            {"gates": {"x": {"mode": "off"}}},
            "gates.x.mode",
            "must be one of blocking, advisory, informational",
            id="no-mode-is-off",
        ),
        pytest.param(
            {"gates": {"x": {"criteria": [{"text": "y", "verifier": "shell"}]}}},
            "gates.x.criteria.0.verifier",
            "must be one of command, judge",
            id="unknown-verifier",
        ),
        pytest.param(
            {"gates": {"x": {"criteria": [{"text": "y", "verifier": "command"}]}}},
            "gates.x.criteria.0.command",
            "must be a text of 1 to 1000 characters",
            id="command-that-is-none",
        ),
        pytest.param(
            {"gates": {"x": {"retry": {"attempts": 3}}}},
            "gates.x.retry.attempts",
            "unknown key",
            id="retry-typo",
        ),
        pytest.param(
            {"turns": {"threshold": 0}},
            "turns.threshold",
            "must be from 1 to 101",
            id="threshold-that-always-holds",
        ),
        pytest.param(
            {"turns": {"warn_from": 61}},
            "turns.warn_from",
            "61 is more than threshold, which is 60",
            id="warning-above-the-threshold",
        ),
        pytest.param(
            {"turns": {"intent_phrases": None}},
            "turns.intent_phrases",
            "must be a list of at most 500 texts",
            id="null-for-phrases",
        ),
        pytest.param(
            {"turns": {"summary_phrases": ["!"]}},
            "turns.summary_phrases.0",
            "holds no word",
            id="phrase-without-a-word",
        ),
        pytest.param(
            {"turns": {"nudge": " "}},
            "turns.nudge",
            "must not be blank",
            id="blank-nudge",
        ),
        pytest.param(
            {"turns": {"models": {"a*b": {}}}},
            "turns.models.a*b",
            "a star may only stand at the end",
            id="star-in-the-middle",
        ),
        pytest.param(
            {"turns": {"models": {"a": {"models": {}}}}},
            "turns.models.a.models",
            "unknown key",
            id="models-of-a-model",
        ),
        pytest.param(
            {"turns": {"models": {"a": {"max_retries": None}}}},
            "turns.models.a.max_retries",
            "must be a whole number",
            id="null-for-a-model",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_path(
    document: object, path: str, why: str
) -> None:
    assert problems(document) == {path: why}


def test_attempts_may_reach_their_bounds_and_not_pass_them() -> None:
    for bound in (1, 20):
        policy = load_policy({"gates": {"x": {"retry": {"max_attempts": bound}}}})
        assert policy.gates["x"].retry.max_attempts == bound
    for beyond in (0, 21, None, True):
        document = {"gates": {"x": {"retry": {"max_attempts": beyond}}}}
        assert "gates.x.retry.max_attempts" in problems(document)


@each_row("name", [field.name for field in fields(TurnRules)])
def test_null_never_erases_a_rule_for_turns(name: str) -> None:
    assert f"turns.{name}" in problems({"turns": {name: None}})
