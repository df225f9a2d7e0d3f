"""Findings that a person has allowed beforehand: they are kept, and pause nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from guidance.core.number_format import format_percent, format_plain
from guidance.core.reviews.allowances import get_ceiling, round_up
from guidance.core.reviews.section import AllowanceRules
from guidance.core.runs.allowances import Allowance
from guidance.core.steps.findings import Finding


def allow_findings(
    findings: Iterable[Finding],
    allowances: Sequence[Allowance],
    *,
    rules: AllowanceRules,
    step: int,
    at: datetime | None,
) -> tuple[Finding, ...]:
    """The same findings; one that is allowed says so, and lets the run go on. Where it is
    not known when the step came (`at`), nothing is allowed."""
    found = tuple(findings)
    if not allowances or at is None:
        return found
    return tuple(
        _allow_finding(each, allowances, rules=rules, step=step, at=at)
        for each in found
    )


def _allow_finding(
    finding: Finding,
    allowances: Sequence[Allowance],
    *,
    rules: AllowanceRules,
    step: int,
    at: datetime,
) -> Finding:
    if finding.decision != "pause" or finding.value is None:
        return finding
    for allowance in allowances:
        if _is_allowed(finding, allowance, rules=rules, step=step, at=at):
            return replace(
                finding,
                decision="continue",
                message=f"{finding.message}, but {_describe(allowance)}",
                allowance=allowance.code,
            )
    return finding


def _is_allowed(
    finding: Finding,
    allowance: Allowance,
    *,
    rules: AllowanceRules,
    step: int,
    at: datetime,
) -> bool:
    """The policy has the last word, also where it changed after the ruling."""
    ceiling = get_ceiling(rules, allowance.gate)
    return (
        finding.gate == allowance.gate
        and finding.value is not None
        and ceiling is not None
        and finding.value <= min(allowance.up_to, ceiling)
        and allowance.covers(step, at)
    )


def _describe(allowance: Allowance) -> str:
    up_to = _format(allowance.gate, allowance.up_to)
    return f"allowed up to {up_to} until step {allowance.last_step:,}"


def format_value(gate: str, value: float) -> str:
    """As its gate writes it. Older allowances go up to just what was reported: those are
    rounded for people, and in full only where a replay has to find the same words."""
    return _format(gate, round_up(value))


def _format(gate: str, value: float) -> str:
    return format_percent(value) if gate == "rework" else format_plain(value, places=2)
