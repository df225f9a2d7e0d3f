"""Evaluate a finished run by the outcome that it reports.

An evaluator that has nothing to judge by says so with None: that is no pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

from guidance.core.number_format import format_percent
from guidance.core.policy import Policy
from guidance.core.shell_commands import judge_command


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What an agent tells when it finishes; no tests at all are None."""

    tests_ran: bool | None = None
    tests_passed: int = 0
    tests_failed: int = 0
    tests_skipped: int = 0
    lines_changed: int = 0
    rework_lines: int = 0
    tools_used: tuple[str, ...] = ()
    violations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """`score` is from 0 to 1; None where nothing could be judged."""

    name: str
    passed: bool | None
    score: float | None
    message: str

    def to_json(self) -> dict[str, object]:
        return asdict(self)


def evaluate_outcome(policy: Policy, outcome: Outcome) -> tuple[Evaluation, ...]:
    return tuple(
        Evaluation(name=name, passed=passed, score=score, message=message)
        for name, evaluator in EVALUATORS.items()
        for passed, score, message in [evaluator(policy, outcome)]
    )


Said = tuple[bool | None, float | None, str]


def _judge_tests(_policy: Policy, outcome: Outcome) -> Said:
    """Tests that were skipped prove nothing, neither way."""
    if outcome.tests_ran is None:
        return None, None, "Nothing was said about tests"
    judged = outcome.tests_passed + outcome.tests_failed
    if not outcome.tests_ran or judged == 0:
        return False, 0.0, "No test ran"
    passed = f"{outcome.tests_passed:,} of {judged:,} tests passed"
    score = outcome.tests_passed / judged
    return outcome.tests_failed == 0, score, passed


def _judge_diff(policy: Policy, outcome: Outcome) -> Said:
    most = policy.continue_limits.max_rework_ratio
    if outcome.lines_changed == 0:
        if outcome.rework_lines == 0:
            return None, None, "No line was changed"
        return False, 0.0, f"{outcome.rework_lines:,} lines of rework and no change"
    ratio = outcome.rework_lines / outcome.lines_changed
    message = f"{format_percent(ratio)} of the changed lines are rework, limit {format_percent(most)}"
    return ratio <= most, max(0.0, 1 - ratio), message


def _judge_violations(_policy: Policy, outcome: Outcome) -> Said:
    count = len(outcome.violations)
    if not count:
        return True, 1.0, "No rule was broken"
    worst = ", ".join(sorted(set(outcome.violations)))
    return False, 0.0, f"{count:,} broken rules: {worst}"


def _judge_commands(_policy: Policy, outcome: Outcome) -> Said:
    """Names of tools are harmless; a command among them is read as one."""
    found = [tool for tool in outcome.tools_used if judge_command(tool)]
    if found:
        return False, 0.0, f"Destructive commands among the tools: {len(found)}"
    return True, 1.0, "No destructive command among the tools"


Evaluator = Callable[[Policy, Outcome], Said]
EVALUATORS: Mapping[str, Evaluator] = {
    "tests-pass": _judge_tests,
    "diff-quality": _judge_diff,
    "violation-rate": _judge_violations,
    "forbidden-commands": _judge_commands,
}
