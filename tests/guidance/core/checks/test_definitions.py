"""Gate definitions: defaults, bounds, round trips, and every problem with its path."""

from __future__ import annotations

from typing import Any

import pytest

from guidance.core.checks import (
    MODES,
    SEVERITIES,
    Criterion,
    GateDefinition,
    Refused,
    Retry,
    read_gate,
    read_gates,
)
from guidance.core.document_reader import Problem, Section
from tests.guidance.core.checks.builders import COMMAND, JUDGE, gate, gate_problems
from tests.guidance.core.policy.dumps import dump_gates
from tests.support.rows import each_row

FULL: dict[str, Any] = {
    "name": "Test suite",
    "description": "What the tests show.",
    "severity": "critical",
    "mode": "advisory",
    "criteria": ["Edge cases are tested", COMMAND, JUDGE],
    "guidance": "Run all of it.\nNot a part.",
    "retry": {"max_attempts": 5, "improvement_hints": False, "preserve_context": False},
}


def of_policy(document: object) -> tuple[dict[str, GateDefinition], dict[str, str]]:
    problems: list[Problem] = []
    root = Section({"gates": document}, path="", problems=problems)
    gates = read_gates(root)
    root.close()
    return gates, dict(problems)


def test_nothing_said_is_the_default() -> None:
    assert gate("code-quality") == GateDefinition(
        slug="code-quality",
        name="code-quality",
        description="",
        severity="medium",
        mode="advisory",
        criteria=(),
        guidance="",
        retry=Retry(max_attempts=2, improvement_hints=True, preserve_context=True),
    )


@each_row(
    ("severity", "mode"),
    [
        ("critical", "blocking"),
        ("high", "advisory"),
        ("medium", "advisory"),
        ("low", "informational"),
    ],
)
def test_the_severity_gives_the_mode_unless_one_is_named(
    severity: str, mode: str
) -> None:
    assert gate(severity=severity).mode == mode
    for other in MODES:
        assert gate(severity=severity, mode=other).mode == other


def test_every_key_is_read_and_written_again() -> None:
    gates, problems = of_policy({"test-suite": FULL})
    assert problems == {}
    assert gates == {
        "test-suite": GateDefinition(
            slug="test-suite",
            name="Test suite",
            description="What the tests show.",
            severity="critical",
            mode="advisory",
            criteria=(
                Criterion(text="Edge cases are tested"),
                Criterion(
                    text="The tests pass", verifier="command", command="pytest -q"
                ),
                Criterion(text="The plan holds", verifier="judge"),
            ),
            guidance="Run all of it.\nNot a part.",
            retry=Retry(
                max_attempts=5, improvement_hints=False, preserve_context=False
            ),
        )
    }
    assert dump_gates(gates) == {"test-suite": FULL}
    inline = gates["test-suite"].to_json()
    assert inline == {"id": "test-suite", **FULL}
    assert read_gate(inline) == gates["test-suite"]


@each_row("severity", SEVERITIES)
def test_the_shortest_gate_is_written_and_read_again(severity: str) -> None:
    gates, problems = of_policy({"a": {"severity": severity}})
    assert problems == {}
    assert of_policy(dump_gates(gates)) == (gates, {})
    assert read_gate(gates["a"].to_json()) == gates["a"]


def test_a_criterion_spelt_out_without_a_verifier_is_the_plain_text() -> None:
    assert gate(criteria=[{"text": "Short"}]) == gate(criteria=["Short"])
    assert gate(criteria=[{"text": "Short"}]).to_json()["criteria"] == ["Short"]


def test_blanks_around_texts_are_not_kept() -> None:
    read = gate(name=" Suite ", guidance="\nRun it.\n", criteria=["  All pass\n"])
    assert (read.name, read.guidance) == ("Suite", "Run it.")
    assert read.criteria == (Criterion(text="All pass"),)


@each_row("name", ["a", "9", "code-quality", "a-1-b", "x" * 64])
def test_an_id_in_small_letters_and_hyphens(name: str) -> None:
    assert gate(name).slug == name


@each_row(
    "name",
    [
        "",
        " ",
        "A",
        "code_quality",
        "-a",
        "a-",
        "a--b",
        "a b",
        "a.b",
        "ä",
        "a\n",
        "x" * 65,
    ],
)
def test_any_other_id_is_refused(name: str) -> None:
    assert set(problems_of_inline({"id": name})) == {"id"}
    if name:
        assert set(of_policy({name: {}})[1]) == {f"gates.{name}"}


def problems_of_inline(document: object) -> dict[str, str]:
    with pytest.raises(Refused) as refused:
        read_gate(document)
    return dict(refused.value.errors)


def test_an_inline_gate_needs_an_id_and_a_gate_of_the_policy_has_one() -> None:
    assert set(problems_of_inline({"name": "Suite"})) == {"id"}
    assert set(problems_of_inline([])) == {""}
    assert of_policy({"a": {"id": "b"}})[1] == {
        "gates.a.id": "the key of a gate is its id"
    }


@each_row(
    ("fields", "path"),
    [
        ({"extra": 1}, "extra"),
        ({"name": ""}, "name"),
        ({"name": "two\nlines"}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"name": None}, "name"),
        ({"description": "x" * 501}, "description"),
        ({"description": "  "}, "description"),
        ({"guidance": "x" * 4_001}, "guidance"),
        ({"guidance": 1}, "guidance"),
        ({"severity": "urgent"}, "severity"),
        ({"severity": None}, "severity"),
        ({"mode": "Blocking"}, "mode"),
        ({"mode": None}, "mode"),
        ({"criteria": "All pass"}, "criteria"),
        ({"criteria": ["x"] * 51}, "criteria"),
        ({"criteria": ["x", ""]}, "criteria.1.text"),
        ({"criteria": ["x", " "]}, "criteria.1.text"),
        ({"criteria": ["one\u2028two"]}, "criteria.0.text"),
        ({"criteria": ["x" * 501]}, "criteria.0.text"),
        ({"criteria": [{"verifier": "judge"}]}, "criteria.0.text"),
        ({"criteria": [{"text": "x", "verifier": "oracle"}]}, "criteria.0.verifier"),
        ({"criteria": [{"text": "x", "verifier": None}]}, "criteria.0.verifier"),
        ({"criteria": [{"text": "x", "verifier": ""}]}, "criteria.0.verifier"),
        ({"criteria": [JUDGE | {"command": "ls"}]}, "criteria.0.command"),
        ({"criteria": [{"text": "x", "command": "ls"}]}, "criteria.0.command"),
        ({"criteria": [COMMAND | {"command": "x" * 1_001}]}, "criteria.0.command"),
        ({"criteria": [COMMAND | {"command": "a\nb"}]}, "criteria.0.command"),
        ({"retry": {"max_attempts": 0}}, "retry.max_attempts"),
        ({"retry": {"max_attempts": 21}}, "retry.max_attempts"),
        ({"retry": {"max_attempts": True}}, "retry.max_attempts"),
        ({"retry": {"max_attempts": 2.0}}, "retry.max_attempts"),
        ({"retry": {"improvement_hints": 1}}, "retry.improvement_hints"),
        ({"retry": {"preserve_context": "yes"}}, "retry.preserve_context"),
        ({"retry": {"delay": 1}}, "retry.delay"),
        ({"retry": []}, "retry"),
    ],
)
def test_what_is_wrong_is_refused_with_its_path(
    fields: dict[str, Any], path: str
) -> None:
    assert set(gate_problems(**fields)) == {path}
    assert set(of_policy({"quality": fields})[1]) == {f"gates.quality.{path}"}


def test_a_command_verifier_without_a_command_is_refused() -> None:
    """The seed let such a criterion pass by itself."""
    criterion = {"text": "The tests pass", "verifier": "command"}
    assert set(gate_problems(criteria=[criterion])) == {"criteria.0.command"}


def test_every_problem_is_listed_at_once() -> None:
    wrong = {
        "severity": "x",
        "mode": "y",
        "criteria": [1],
        "retry": {"max_attempts": 0},
    }
    _, problems = of_policy({"one": wrong, "Two": {"z": 1}, "three": 3})
    assert {
        "gates.one.severity",
        "gates.one.mode",
        "gates.one.criteria.0",
        "gates.one.retry.max_attempts",
        "gates.Two",
        "gates.Two.z",
        "gates.three",
    } <= set(problems)


def test_a_policy_holds_a_hundred_gates_and_a_gate_fifty_criteria() -> None:
    many = {f"gate-{number}": {"criteria": ["x"] * 50} for number in range(100)}
    gates, problems = of_policy(many)
    assert (len(gates), problems) == (100, {})
    assert set(of_policy(many | {"one-more": {}})[1]) == {"gates"}
    assert set(of_policy([])[1]) == {"gates"}
