"""What a policy says about the evaluators that judge a run when it finishes."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

MAX_REWORK_RATIO = 0.3
MAX_RATE = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorRules:
    """`fails_run`: a run that this evaluator does not pass ends as failed."""

    fails_run: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TestsRules(EvaluatorRules):
    """`gates` are the quality gates whose verdict speaks about tests."""

    gates: tuple[str, ...] = ("test-suite",)


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffRules(EvaluatorRules):
    max_rework_ratio: float = MAX_REWORK_RATIO


@dataclass(frozen=True, slots=True, kw_only=True)
class ViolationRules(EvaluatorRules):
    """`max_rate` is a weight of violations for ten steps and calls."""

    max_rate: float = MAX_RATE


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRules(EvaluatorRules):
    """`commands` must not run, even where a person approves."""

    commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DependencyRules(EvaluatorRules):
    """An empty `allow` allows all that `deny` does not name."""

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluators:
    tests_pass: TestsRules = field(default_factory=TestsRules)
    diff_quality: DiffRules = field(default_factory=DiffRules)
    violation_rate: ViolationRules = field(default_factory=ViolationRules)
    forbidden_commands: CommandRules = field(default_factory=CommandRules)
    forbidden_dependencies: DependencyRules = field(default_factory=DependencyRules)

    def get_rules(self, name: str) -> EvaluatorRules:
        """By the name that an evaluation has, such as tests-pass."""
        rules: EvaluatorRules = getattr(self, name.replace("-", "_"))
        return rules

    def to_json(self) -> dict[str, Any]:
        """The section of the policy document that gives these rules again."""
        return {
            name: {
                key: list(value) if isinstance(value, tuple) else value
                for key, value in rules.items()
            }
            for name, rules in asdict(self).items()
        }
