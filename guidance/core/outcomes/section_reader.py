"""The evaluators section of a policy document, read strictly."""

from __future__ import annotations

import re

from guidance.core.document_reader import Section
from guidance.core.outcomes.section import (
    CommandRules,
    DependencyRules,
    DiffRules,
    Evaluators,
    TestsRules,
    ViolationRules,
)

_MOST = 1_000.0
_LENGTH = 200
_GATE = r"[a-z0-9][a-z0-9-]{0,63}"
# A name, or its beginning and a star, perhaps behind a registry: npm:left-pad, @acme/*.
_DEPENDENCY = r"[^\s*]{1,199}\*?"
_COMMAND = r"\S(?:.{0,198}\S)?"


def read_evaluators(section: Section) -> Evaluators:
    evaluators = Evaluators(
        tests_pass=_read_tests(section.read_part("tests_pass")),
        diff_quality=_read_diff(section.read_part("diff_quality")),
        violation_rate=_read_violations(section.read_part("violation_rate")),
        forbidden_commands=_read_commands(section.read_part("forbidden_commands")),
        forbidden_dependencies=_read_dependencies(
            section.read_part("forbidden_dependencies")
        ),
    )
    section.close()
    return evaluators


def _read_tests(section: Section) -> TestsRules:
    rules = TestsRules(
        gates=section.read_texts(
            "gates", TestsRules().gates, problem=_find_gate_problem, pattern=_GATE
        ),
        fails_run=_read_fails_run(section),
    )
    section.close()
    return rules


def _read_diff(section: Section) -> DiffRules:
    rules = DiffRules(
        max_rework_ratio=section.read_number(
            "max_rework_ratio", DiffRules().max_rework_ratio, low=0, high=1
        ),
        fails_run=_read_fails_run(section),
    )
    section.close()
    return rules


def _read_violations(section: Section) -> ViolationRules:
    rules = ViolationRules(
        max_rate=section.read_number(
            "max_rate", ViolationRules().max_rate, low=0, high=_MOST
        ),
        fails_run=_read_fails_run(section),
    )
    section.close()
    return rules


def _read_commands(section: Section) -> CommandRules:
    rules = CommandRules(
        commands=section.read_texts(
            "commands", (), problem=_find_command_problem, pattern=_COMMAND
        ),
        fails_run=_read_fails_run(section),
    )
    section.close()
    return rules


def _read_dependencies(section: Section) -> DependencyRules:
    def names(key: str) -> tuple[str, ...]:
        return section.read_texts(
            key, (), problem=_find_dependency_problem, pattern=_DEPENDENCY
        )

    rules = DependencyRules(
        allow=names("allow"), deny=names("deny"), fails_run=_read_fails_run(section)
    )
    section.close()
    return rules


def _read_fails_run(section: Section) -> bool:
    return section.read_flag("fails_run", default=True)


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
