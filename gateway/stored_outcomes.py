"""What the entry that ends a run says, read for its rows and to judge it again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from guidance.core.outcomes import Report
from guidance.core.outcomes.facts import (
    NAMED_LIMIT,
    TEXT_LIMIT,
    ReportedTests,
    SeverityCount,
)
from guidance.core.outcomes.violations import RULE_LIMIT

Payload = Mapping[str, Any]


def build_outcome_report(payload: Payload) -> Report:
    """What the agent said; a field that it left out says nothing."""
    tests, diff, said = payload["tests"], payload["diff"], payload["said"]
    violations = payload["violations"]
    return Report(
        tests=None
        if tests is None
        else ReportedTests(
            ran=tests["ran"], passed=tests["passed"], failed=tests["failed"]
        ),
        lines_changed=None
        if diff is None
        else diff["lines_added"] + diff["lines_removed"],
        rework_lines=payload["rework_lines"] if "rework_lines" in said else None,
        tools_used=tuple(payload["tools_used"]),
        violations=_count_severities(violations) if "violations" in said else None,
        rules=tuple(each["rule"] for each in violations[:NAMED_LIMIT]),
    )


def _count_severities(violations: Sequence[Payload]) -> tuple[SeverityCount, ...]:
    count = Counter(each["severity"] for each in violations)
    halved = Counter(each["severity"] for each in violations if each["auto_corrected"])
    return tuple(
        SeverityCount(severity=name, count=times, halved=halved[name])
        for name, times in sorted(count.items())
    )


def build_outcome_figures(payload: Payload) -> dict[str, int | None]:
    """What was changed: as it was seen, else as it is reported."""
    names = ("lines_added", "lines_removed", "files_changed")
    source = payload["seen"] if payload["seen"]["edits"] else payload["diff"] or {}
    rework = payload["rework_lines"] if "rework_lines" in payload["said"] else None
    return {**{name: source.get(name, 0) for name in names}, "rework_lines": rework}


def read_reported_violation(told: Payload) -> dict[str, Any]:
    """What an agent tells of a violation, as its row has it."""
    return {
        "rule": told["rule"][:RULE_LIMIT],
        "severity": told["severity"],
        "auto_corrected": told["auto_corrected"],
        "text": told["description"][:TEXT_LIMIT],
    }
