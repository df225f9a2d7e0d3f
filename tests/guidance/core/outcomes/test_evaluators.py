"""What is said about a finished run: the LG rows of the seed, and facts before reports."""

from __future__ import annotations

from typing import Any

import pytest

from guidance.core.outcomes import (
    EVALUATORS,
    Evaluation,
    OutcomeFacts,
    Report,
    Seen,
    judge_outcome,
)
from guidance.core.outcomes.facts import (
    AddedDependency,
    NamedCall,
    ReportedTests,
    SeenTests,
    SeverityCount,
)
from guidance.core.outcomes.section import Evaluators
from guidance.core.policy import load_policy
from tests.support.rows import each_row


def read_rules(**rules: Any) -> Evaluators:
    return load_policy({"evaluators": rules}).evaluators


def evaluate(
    name: str,
    *,
    seen: dict[str, Any] | None = None,
    report: dict[str, Any] | None = None,
    **rules: Any,
) -> Evaluation:
    facts = OutcomeFacts(seen=Seen(**(seen or {})), report=Report(**(report or {})))
    return EVALUATORS[name](read_rules(**rules), facts)


def told_tests(ran: bool = True, passed: int = 0, failed: int = 0) -> dict[str, Any]:
    return {"tests": ReportedTests(ran=ran, passed=passed, failed=failed)}


def seen_tests(ok: bool | None) -> dict[str, Any]:
    return {"calls": 1, "tests": SeenTests(seq=2, text="pytest", ok=ok)}


@each_row(
    ("seen", "report", "passed", "score", "source"),
    [
        pytest.param({}, told_tests(passed=10), True, 1.0, "reported", id="LG-11"),
        pytest.param(
            {}, told_tests(passed=8, failed=2), False, 0.8, "reported", id="LG-12"
        ),
        pytest.param({}, told_tests(ran=False), False, 0.0, "reported", id="LG-13"),
        pytest.param({}, told_tests(), False, 0.0, "reported", id="LG-18"),
        pytest.param(
            {},
            told_tests(ran=False, passed=9),
            False,
            0.0,
            "reported",
            id="what-did-not-run-did-not-pass",
        ),
        pytest.param({}, {}, None, None, None, id="nothing-known"),
        pytest.param(seen_tests(True), {}, True, 1.0, "seen", id="seen"),
        pytest.param(seen_tests(None), {}, None, None, None, id="seen-says-nothing"),
        pytest.param(
            seen_tests(False), told_tests(passed=9), False, 0.0, "both", id="seen-first"
        ),
        pytest.param(
            seen_tests(True),
            told_tests(passed=1, failed=1),
            False,
            0.5,
            "both",
            id="the-report-may-be-worse",
        ),
        pytest.param({"test_gate": True}, {}, True, 1.0, "seen", id="gate-passed"),
        pytest.param(
            {"test_gate": False, **seen_tests(True)},
            told_tests(passed=9),
            False,
            0.0,
            "both",
            id="gate-not-passed",
        ),
    ],
)
def test_tests_pass(
    seen: dict[str, Any],
    report: dict[str, Any],
    passed: bool | None,
    score: float | None,
    source: str | None,
) -> None:
    evaluation = evaluate("tests-pass", seen=seen, report=report)
    assert (evaluation.passed, evaluation.score) == (passed, score)
    assert evaluation.source == source


@each_row(
    ("seen", "reported", "rework", "passed", "source"),
    [
        pytest.param(0, 100, 10, True, "reported", id="LG-17-ten"),
        pytest.param(0, 100, 50, False, "reported", id="LG-17-fifty"),
        pytest.param(0, 100, 30, True, "reported", id="on-the-limit"),
        pytest.param(0, 100, 31, False, "reported", id="over-the-limit"),
        pytest.param(0, None, 500, False, "reported", id="LG-21"),
        pytest.param(0, 0, 500, False, "reported", id="LG-21-no-lines"),
        pytest.param(0, 0, 0, None, None, id="no-change"),
        pytest.param(0, None, None, None, None, id="nothing-known"),
        pytest.param(0, 100, None, True, "reported", id="no-rework-said"),
        pytest.param(100, None, None, None, None, id="seen-and-nothing-said"),
        pytest.param(100, None, 50, False, "both", id="seen"),
        pytest.param(100, 900, 50, False, "both", id="a-larger-report-does-not-help"),
        pytest.param(900, 100, 50, False, "both", id="the-report-may-be-worse"),
    ],
)
def test_diff_quality(
    seen: int,
    reported: int | None,
    rework: int | None,
    passed: bool | None,
    source: str | None,
) -> None:
    evaluation = evaluate(
        "diff-quality",
        seen={"lines_added": seen},
        report={"lines_changed": reported, "rework_lines": rework},
    )
    assert (evaluation.passed, evaluation.source) == (passed, source)


@each_row(
    ("rework", "score"), [(0, 1.0), (10, 0.9), (100, 0.0), (250, 0.0), (None, 1.0)]
)
def test_the_score_of_a_diff_is_what_is_no_rework(
    rework: int | None, score: float
) -> None:
    report = {"lines_changed": 100, "rework_lines": rework}
    assert evaluate("diff-quality", report=report).score == score


def test_the_rework_limit_is_the_policys() -> None:
    report = {"lines_changed": 100, "rework_lines": 50}
    rules = {"diff_quality": {"max_rework_ratio": 0.5}}
    assert evaluate("diff-quality", report=report, **rules).passed is True


def count(severity: str, times: int, halved: int = 0) -> SeverityCount:
    return SeverityCount(severity=severity, count=times, halved=halved)


@each_row(
    ("counts", "work", "limit", "passed", "score"),
    [
        pytest.param([], 5, 2.0, True, 1.0, id="none"),
        pytest.param([count("high", 1)], 5, 2.0, True, 0.75, id="LG-16-one-of-two"),
        pytest.param([count("high", 2)], 5, 2.0, True, 0.5, id="LG-16-two-of-two"),
        pytest.param([count("high", 3)], 5, 2.0, False, 0.25, id="LG-16-three-of-two"),
        pytest.param([count("critical", 2)], 5, 2.0, False, 0.0, id="critical-weighs"),
        pytest.param([count("low", 8)], 5, 2.0, True, 0.5, id="low-weighs-little"),
        pytest.param([count("info", 99)], 5, 0.0, True, 1.0, id="info-weighs-nothing"),
        pytest.param([count("high", 4, 4)], 5, 2.0, True, 0.5, id="corrected-is-half"),
        pytest.param([count("high", 30)], 300, 2.0, True, 0.75, id="for-ten-of-work"),
        pytest.param([count("low", 1)], 5, 0.0, False, 0.0, id="no-limit-left"),
    ],
)
def test_violation_rate(
    counts: list[SeverityCount], work: int, limit: float, passed: bool, score: float
) -> None:
    sayings: list[dict[str, Any]] = [
        {"seen": {"found": tuple(counts), "steps": work}},
        {"seen": {"recorded": tuple(counts), "calls": work}},
        {"seen": {"steps": work}, "report": {"violations": tuple(counts)}},
    ]
    for said in sayings:
        evaluation = evaluate(
            "violation-rate",
            seen=said["seen"],
            report=said.get("report"),
            violation_rate={"max_rate": limit},
        )
        assert (evaluation.passed, evaluation.score) == (passed, score), said


def test_nothing_known_of_violations_is_no_pass() -> None:
    assert evaluate("violation-rate").passed is None
    told = evaluate("violation-rate", report={"violations": ()})
    assert (told.passed, told.source) == (True, "reported")
    assert told.message == "No rule was broken"


LISTED = {"forbidden_commands": {"commands": ["terraform destroy"]}}


@each_row(
    ("tools", "passed"),
    [
        pytest.param(("Bash", "Read"), True, id="LG-14"),
        pytest.param(("rm -rf /",), False, id="LG-15"),
        pytest.param(("rm notes.txt",), True, id="a-warning-is-not-forbidden"),
        pytest.param(("eval $X",), True, id="unreadable-is-not-destructive"),
        pytest.param(("sudo terraform -chdir=a destroy",), False, id="listed"),
        pytest.param((), None, id="nothing-known"),
    ],
)
def test_reported_commands(tools: tuple[str, ...], passed: bool | None) -> None:
    evaluation = evaluate("forbidden-commands", report={"tools_used": tools}, **LISTED)
    assert evaluation.passed is passed


CALL = NamedCall(seq=3, rule="delete-folder", text="rm -rf /srv")


@each_row(
    ("seen", "passed", "message"),
    [
        ({"calls": 1}, True, "No destructive command ran"),
        (
            {"calls": 1, "approved_count": 2},
            True,
            "2 destructive calls ran, approved by a person",
        ),
        (
            {"calls": 1, "destructive": (CALL,), "destructive_count": 1},
            False,
            "1 destructive call ran without approval: rm -rf /srv",
        ),
        (
            {"calls": 1, "forbidden": (CALL,), "forbidden_count": 30},
            False,
            "30 forbidden calls ran: rm -rf /srv",
        ),
    ],
)
def test_seen_commands(seen: dict[str, Any], passed: bool, message: str) -> None:
    evaluation = evaluate("forbidden-commands", seen=seen)
    assert (evaluation.passed, evaluation.message) == (passed, message)
    assert evaluation.source == "seen"


def added(*names: str) -> dict[str, Any]:
    found = (AddedDependency(seq=2, name=name, via="edit") for name in names)
    return {"calls": 1, "dependencies": tuple(found)}


@each_row(
    ("names", "lists", "passed"),
    [
        (("npm:left-pad",), {}, None),
        ((), {"deny": ["left-pad"]}, True),
        (("npm:left-pad",), {"deny": ["left-pad"]}, False),
        (("npm:left-pad",), {"deny": ["npm:left-*"]}, False),
        (("npm:left-pad",), {"deny": ["pypi:left-pad"]}, True),
        (("pypi:evil-twin",), {"deny": ["Evil_Twin"]}, False),
        (("npm:react",), {"allow": ["react", "@acme/*"]}, True),
        (("npm:@acme/ui",), {"allow": ["react", "@acme/*"]}, True),
        (("npm:react", "npm:vue"), {"allow": ["react"]}, False),
        (("npm:react",), {"allow": ["react"], "deny": ["react"]}, False),
    ],
)
def test_dependencies(
    names: tuple[str, ...], lists: dict[str, list[str]], passed: bool | None
) -> None:
    evaluation = evaluate(
        "forbidden-dependencies", seen=added(*names), forbidden_dependencies=lists
    )
    assert evaluation.passed is passed


def test_dependencies_of_a_run_without_calls_are_not_known() -> None:
    lists = {"deny": ["left-pad"]}
    said = evaluate("forbidden-dependencies", forbidden_dependencies=lists)
    assert said.passed is None


@each_row(
    ("rules", "accepted", "reason"),
    [
        ({}, False, "tests-pass: The agent says that no test ran"),
        ({"tests_pass": {"fails_run": False}}, False, ""),
    ],
)
def test_a_failed_evaluator_fails_the_run_unless_the_policy_says_otherwise(
    rules: dict[str, Any], accepted: bool, reason: str
) -> None:
    facts = OutcomeFacts(report=Report(**told_tests(ran=False)))
    ending = judge_outcome(read_rules(**rules), facts)
    assert (ending.accepted, ending.reason) == (accepted, reason)


def test_trouble_in_an_evaluator_never_accepts(monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(*_: object) -> Evaluation:
        raise ZeroDivisionError

    monkeypatch.setitem(EVALUATORS, "tests-pass", break_down)
    ending = judge_outcome(Evaluators(), OutcomeFacts())
    assert ending.accepted is False
    assert "ZeroDivisionError" in ending.reason


def test_what_was_seen_survives_its_entry() -> None:
    seen = Seen(
        steps=3,
        tools=("Bash",),
        rules=(("delete-folder", 2),),
        found=(count("high", 2),),
        destructive=(CALL,),
        **added("npm:react"),
        tests=SeenTests(seq=4, text="pytest", ok=None),
    )
    assert Seen.from_json(seen.to_json()) == seen
    assert Seen.from_json(Seen().to_json()) == Seen()
