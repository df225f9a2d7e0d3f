"""What a policy says about the evaluators that judge a run when it finishes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Protocol

from guidance.core.settings import flag, number, part, share, texts

MAX_REWORK_RATIO = 0.3
MAX_RATE = 2.0
_LENGTH = 200
_GATE = r"[a-z0-9][a-z0-9-]{0,63}"
# A name, or its beginning and a star, perhaps behind a registry: npm:left-pad, @acme/*.
_DEPENDENCY = r"[^\s*]{1,199}\*?"
_COMMAND = r"\S(?:.{0,198}\S)?"


def _find_gate_problem(name: str) -> str | None:
    if not re.fullmatch(_GATE, name):
        return "must be the name of a quality gate, such as test-suite"
    return None


def _find_command_problem(command: str) -> str | None:
    if not re.fullmatch(_COMMAND, command) or len(command) > _LENGTH:
        return f"must be a command of 1 to {_LENGTH} characters, such as git push"
    return None


def _find_dependency_problem(name: str) -> str | None:
    if not re.fullmatch(_DEPENDENCY, name):
        return "must be a name, or its beginning and a star, such as @acme/*"
    return None


class EvaluatorRules(Protocol):
    @property
    def fails_run(self) -> bool:
        """Tell if a run that this evaluator does not pass ends as failed."""


def _declare_fails_run() -> Any:
    said = "Whether a run that does not pass ends as failed."
    return flag(True, "Fails the run", said)


@dataclass(frozen=True, slots=True, kw_only=True)
class TestsRules:
    """`gates` are the quality gates whose verdict speaks about tests."""

    gates: tuple[str, ...] = texts(
        ("test-suite",),
        "Gates about tests",
        "Quality gates whose verdict speaks about tests.",
        problem=_find_gate_problem,
        pattern=_GATE,
    )
    fails_run: bool = _declare_fails_run()


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffRules:
    max_rework_ratio: float = share(
        MAX_REWORK_RATIO,
        "Rework limit",
        "A larger share of the changed lines does not pass.",
        lower="Fails runs",
    )
    fails_run: bool = _declare_fails_run()


@dataclass(frozen=True, slots=True, kw_only=True)
class ViolationRules:
    """`max_rate` is a weight of violations for ten steps and calls."""

    max_rate: float = number(
        MAX_RATE,
        "Weight limit",
        "Of violations for ten steps and calls: critical 2, high 1, medium 0.5, low 0.25; "
        "half for what was corrected or approved.",
        high=1_000.0,
        lower="Fails runs",
    )
    fails_run: bool = _declare_fails_run()


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRules:
    """`commands` must not run, even where a person approves."""

    commands: tuple[str, ...] = texts(
        (),
        "Commands",
        "Must not run even where a person approves, such as git push --force.",
        problem=_find_command_problem,
        pattern=_COMMAND,
    )
    fails_run: bool = _declare_fails_run()


@dataclass(frozen=True, slots=True, kw_only=True)
class DependencyRules:
    """An empty `allow` allows all that `deny` does not name."""

    allow: tuple[str, ...] = texts(
        (),
        "Allowed",
        "Names, or their beginning and a star; an empty list allows all.",
        problem=_find_dependency_problem,
        pattern=_DEPENDENCY,
    )
    deny: tuple[str, ...] = texts(
        (),
        "Denied",
        "Names, or their beginning and a star, such as npm:left-pad.",
        problem=_find_dependency_problem,
        pattern=_DEPENDENCY,
    )
    fails_run: bool = _declare_fails_run()


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluators:
    tests_pass: TestsRules = part(
        TestsRules, "Tests pass", "Whether the tests passed at the end."
    )
    diff_quality: DiffRules = part(
        DiffRules, "Diff quality", "How much of the change is rework."
    )
    violation_rate: ViolationRules = part(
        ViolationRules, "Violation rate", "How many rules were broken."
    )
    forbidden_commands: CommandRules = part(
        CommandRules, "Forbidden commands", "Commands that must not run."
    )
    forbidden_dependencies: DependencyRules = part(
        DependencyRules, "Forbidden dependencies", "Packages that must not be added."
    )

    def get_rules(self, name: str) -> EvaluatorRules:
        """By the name that an evaluation has, such as tests-pass."""
        rules: EvaluatorRules = getattr(self, name.replace("-", "_"))
        return rules
