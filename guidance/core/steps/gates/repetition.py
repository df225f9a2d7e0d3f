"""Is the run going round in circles: rework, uncertainty, the same steps again."""

from __future__ import annotations

from guidance.core.number_format import beside, in_words, percent, percent_beside, plain
from guidance.core.policy import ContinueLimits
from guidance.core.steps.evidence import Evidence
from guidance.core.steps.findings import Finding


def rework(limits: ContinueLimits, evidence: Evidence) -> Finding | None:
    ratio = evidence.rework_ratio
    most = limits.max_rework_ratio
    if not evidence.rework_enough or ratio <= most:
        return None
    return Finding(
        gate="rework",
        decision="pause",
        message=(
            f"Rework ratio {percent_beside(ratio, most, places=0)}, "
            f"over the {percent(most)} limit"
        ),
        value=ratio,
        limit=most,
    )


def uncertainty(limits: ContinueLimits, evidence: Evidence) -> Finding | None:
    value = evidence.uncertainty
    most = limits.max_uncertainty
    if value is None or value <= most:
        return None
    return Finding(
        gate="uncertainty",
        decision="pause",
        message=(
            f"Uncertainty {beside(value, most, places=2)}, "
            f"over the {plain(most, places=2)} limit"
        ),
        value=value,
        limit=most,
    )


def repetition(limits: ContinueLimits, evidence: Evidence) -> Finding | None:
    length = evidence.cycle or evidence.turns_cycle
    if not length:
        return None
    times = in_words(limits.repeat_limit)
    unit = "step" if evidence.cycle else "turn"
    what = unit if length == 1 else f"{in_words(length)} {unit}s"
    return Finding(
        gate="repetition",
        decision="pause",
        message=f"The same {what} {times} times in a row",
        value=limits.repeat_limit,
        limit=limits.repeat_limit,
    )
