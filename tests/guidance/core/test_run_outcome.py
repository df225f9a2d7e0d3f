"""What is said about a finished run: the LG rows of the seed that fit."""

from __future__ import annotations

from typing import Any

import pytest

from guidance.core.policy import Policy
from guidance.core.run_outcome import Evaluation, Outcome, evaluate_outcome
from tests.support.rows import each_row


def evaluate(name: str, **told: Any) -> Evaluation:
    found = evaluate_outcome(Policy(), Outcome(**told))
    return next(evaluation for evaluation in found if evaluation.name == name)


@each_row(
    ("told", "passed", "score"),
    [
        pytest.param({"tests_ran": True, "tests_passed": 10}, True, 1.0, id="LG-11"),
        pytest.param(
            {"tests_ran": True, "tests_passed": 8, "tests_failed": 2},
            False,
            0.8,
            id="LG-12",
        ),
        pytest.param({"tests_ran": False}, False, 0.0, id="LG-13"),
        pytest.param({"tests_ran": True}, False, 0.0, id="LG-18-no-test"),
        pytest.param(
            {"tests_ran": True, "tests_skipped": 9}, False, 0.0, id="LG-18-skipped"
        ),
        pytest.param(
            {"tests_ran": True, "tests_passed": 10, "tests_skipped": 1},
            True,
            1.0,
            id="a-skipped-test-costs-nothing",
        ),
        pytest.param({}, None, None, id="nothing-said"),
    ],
)
def test_tests_pass(told: dict[str, Any], passed: bool | None, score: float) -> None:
    evaluation = evaluate("tests-pass", **told)
    assert (evaluation.passed, evaluation.score) == (passed, score)


@each_row(
    ("changed", "rework", "passed"),
    [
        pytest.param(100, 10, True, id="LG-17-ten"),
        pytest.param(100, 50, False, id="LG-17-fifty"),
        pytest.param(100, 30, True, id="on-the-limit"),
        pytest.param(100, 31, False, id="over-the-limit"),
        pytest.param(0, 500, False, id="LG-21"),
        pytest.param(0, 0, None, id="no-change"),
    ],
)
def test_diff_quality(changed: int, rework: int, passed: bool | None) -> None:
    evaluation = evaluate("diff-quality", lines_changed=changed, rework_lines=rework)
    assert evaluation.passed is passed


def test_violations_and_commands() -> None:
    """LG-14, LG-15 and the rule that one broken rule is one too many."""
    assert evaluate("violation-rate").passed is True
    assert evaluate("violation-rate", violations=("R1", "R1")).passed is False
    assert evaluate("forbidden-commands", tools_used=("Bash", "Read")).passed is True
    assert evaluate("forbidden-commands", tools_used=("rm -fr /",)).passed is False
