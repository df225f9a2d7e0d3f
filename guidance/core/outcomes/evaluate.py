"""Judge a finished run: five evaluators, and how the run ends by them.

An evaluator that has nothing to judge by says so with None: that is no pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from guidance.core.outcomes.evaluation import Evaluation
from guidance.core.outcomes.evaluators import (
    diff_quality,
    forbidden_commands,
    forbidden_dependencies,
    tests_pass,
    violation_rate,
)
from guidance.core.outcomes.facts import OutcomeFacts
from guidance.core.outcomes.section import Evaluators

# Stored with every end. A change that would judge a stored one differently takes the next.
OUTCOME_VERSION = 1

Evaluator = Callable[[Evaluators, OutcomeFacts], Evaluation]
EVALUATORS: Mapping[str, Evaluator] = {
    tests_pass.NAME: tests_pass.judge_tests,
    diff_quality.NAME: diff_quality.judge_diff,
    violation_rate.NAME: violation_rate.judge_violations,
    forbidden_commands.NAME: forbidden_commands.judge_commands,
    forbidden_dependencies.NAME: forbidden_dependencies.judge_dependencies,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a run ends: `reason` says why it failed, empty where no evaluator failed it."""

    evaluations: tuple[Evaluation, ...]
    accepted: bool | None
    reason: str


def judge_outcome(rules: Evaluators, facts: OutcomeFacts) -> Ending:
    evaluations = tuple(_ask(name, rules, facts) for name in EVALUATORS)
    failing = [
        f"{each.name}: {each.message}"
        for each in evaluations
        if each.passed is False and rules.get_rules(each.name).fails_run
    ]
    return Ending(
        evaluations=evaluations,
        accepted=accept(evaluations),
        reason="; ".join(failing),
    )


def accept(evaluations: Sequence[Evaluation]) -> bool | None:
    """True where all that is known passed, False where one failed, None: nothing known."""
    known = [each.passed for each in evaluations if each.passed is not None]
    return all(known) if known else None


def _ask(name: str, rules: Evaluators, facts: OutcomeFacts) -> Evaluation:
    """Trouble in an evaluator never accepts a run."""
    try:
        return EVALUATORS[name](rules, facts)
    except Exception as error:
        return Evaluation(
            name=name,
            passed=False,
            score=0.0,
            source="seen",
            message=f"The evaluator could not judge ({type(error).__name__})",
        )
