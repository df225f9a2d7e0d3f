"""Gates against work without progress: rework, uncertainty, repetition."""

from __future__ import annotations

from guidance.core.number_format import (
    format_beside,
    format_count,
    format_percent,
    format_percent_beside,
    format_plain,
)
from guidance.core.policy import ContinueLimits
from guidance.core.steps.evidence import Evidence
from guidance.core.steps.findings import Finding, describe_both


def check_rework(limits: ContinueLimits, evidence: Evidence) -> Finding | None:
    ratio = evidence.rework_ratio
    most = limits.max_rework_ratio
    if not evidence.has_enough_rework_steps or ratio <= most:
        return None
    return Finding(
        gate="rework",
        decision="pause",
        message=(
            f"Rework ratio {format_percent_beside(ratio, most, places=0)}, "
            f"over the {format_percent(most)} limit"
        ),
        value=ratio,
        limit=most,
    )


def check_uncertainty(limits: ContinueLimits, evidence: Evidence) -> Finding | None:
    value = evidence.uncertainty
    most = limits.max_uncertainty
    if value is None or value <= most:
        return None
    return Finding(
        gate="uncertainty",
        decision="pause",
        message=(
            f"Uncertainty {format_beside(value, most, places=2)}, "
            f"over the {format_plain(most, places=2)} limit"
            + describe_both(evidence.uncertainty_reported, value)
        ),
        value=value,
        limit=most,
    )


def check_repetition(limits: ContinueLimits, evidence: Evidence) -> Finding | None:
    length = evidence.cycle or evidence.turns_cycle
    if not length:
        return None
    times = format_count(limits.repeat_limit)
    unit = "step" if evidence.cycle else "turn"
    what = unit if length == 1 else f"{format_count(length)} {unit}s"
    return Finding(
        gate="repetition",
        decision="pause",
        message=f"The same {what} {times} times in a row",
        value=limits.repeat_limit,
        limit=limits.repeat_limit,
    )
