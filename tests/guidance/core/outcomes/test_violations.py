"""Findings as rules that were broken: one for each rule, the worst of them."""

from __future__ import annotations

from typing import Any

import pytest

from guidance.core.outcomes.violations import (
    NO_VIOLATIONS,
    list_call_violations,
    list_step_violations,
)


def find(
    gate: str = "destructive",
    decision: str = "require-confirmation",
    message: str = "said",
    **details: Any,
) -> dict[str, Any]:
    return {
        "gate": gate,
        "decision": decision,
        "message": message,
        "details": details,
    }


@pytest.mark.parametrize("turned", [False, True])
def test_of_the_findings_of_one_rule_the_worst_counts(turned: bool) -> None:
    findings = [
        find(rule="delete-folder", severity="low", text="rm a"),
        find(rule="delete-folder", severity="critical", text="rm b"),
        find(rule="delete-folder", severity="medium", text="rm c"),
        find(rule="git-clean", severity="info", text="git clean"),
    ]
    found = list_call_violations(findings[::-1] if turned else findings)
    assert {each.rule: (each.severity, each.text) for each in found} == {
        "delete-folder": ("critical", "rm b"),
        "git-clean": ("info", "git clean"),
    }


def test_among_equals_the_first_counts() -> None:
    (found,) = list_call_violations(
        [
            find(rule="delete-folder", severity="high", text="rm a"),
            find(rule="delete-folder", severity="high", text="rm b"),
        ]
    )
    assert found.text == "rm a"


def test_what_is_allowed_or_asked_for_breaks_no_rule() -> None:
    asked = [find(gate=gate) for gate in sorted(NO_VIOLATIONS)]
    assert list_call_violations([*asked, find(decision="allow")]) == []
    (found,) = list_call_violations([*asked, find(gate="secrets")])
    assert found.rule == "secrets", "a finding without a rule counts by its gate"


@pytest.mark.parametrize(
    ("finding", "severity"),
    [
        (find(severity="info"), "info"),
        (find(severity="huge"), "medium"),
        (find(decision="block"), "high"),
        (find(decision="warn"), "low"),
        (find(gate="schema", decision="block"), "low"),
        (find(gate="budget", decision="block"), "low"),
        (find(gate="schema", decision="block", severity="high"), "high"),
    ],
)
def test_how_severe_a_finding_is(finding: dict[str, Any], severity: str) -> None:
    (found,) = list_call_violations([finding])
    assert found.severity == severity


@pytest.mark.parametrize(
    ("finding", "destructive"),
    [
        (find(rule="delete-folder"), True),
        (find(rule="delete-folder", uninspectable=True), False),
        (find(gate="secrets", rule="delete-folder"), False),
        # Nobody is asked about it, unless the policy says so.
        (find(rule="delete-named-file"), False),
        (find(rule="of-a-policy"), False),
        (find(), False),
    ],
)
def test_what_is_destructive(finding: dict[str, Any], destructive: bool) -> None:
    (found,) = list_call_violations([finding])
    assert found.destructive is destructive


def test_of_a_step_what_stops_or_pauses_it_counts() -> None:
    findings = [
        find("coherence", "stop"),
        find("rework", "pause"),
        find("drift", "checkpoint"),
        find("pace", "throttle"),
        find("limits", "stop"),
    ]
    found = list_step_violations(findings)
    assert [(each.rule, each.severity) for each in found] == [
        ("coherence", "high"),
        ("rework", "medium"),
    ]
