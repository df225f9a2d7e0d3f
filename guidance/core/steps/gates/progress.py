"""Gates on coherence and saved work: coherence, step limit, checkpoint."""

from __future__ import annotations

from guidance.core.number_format import format_beside, format_plain
from guidance.core.policy import ContinueLimits
from guidance.core.steps.evidence import Evidence
from guidance.core.steps.findings import Finding, describe_both


def check_coherence(limits: ContinueLimits, evidence: Evidence) -> Finding | None:
    value = evidence.coherence
    floor = limits.min_coherence
    if value is None or value >= floor:
        return None
    return Finding(
        gate="coherence",
        decision="stop",
        message=(
            f"Coherence {format_beside(value, floor, places=2)}, "
            f"under the {format_plain(floor, places=2)} floor"
            + describe_both(evidence.coherence_reported, value)
        ),
        value=value,
        limit=floor,
    )


def check_step_limit(limits: ContinueLimits, evidence: Evidence) -> Finding | None:
    since = evidence.since_checkpoint
    most = limits.max_consecutive_steps
    if since < most:
        return None
    return Finding(
        gate="step_limit",
        decision="stop",
        message=f"{_format_steps(since)} without a checkpoint, the limit is {most:,}",
        value=since,
        limit=most,
    )


def check_checkpoint(limits: ContinueLimits, evidence: Evidence) -> Finding | None:
    since = evidence.since_checkpoint
    interval = limits.checkpoint_interval_steps
    if since < interval:
        return None
    return Finding(
        gate="checkpoint",
        decision="checkpoint",
        message=f"{_format_steps(since)} without a checkpoint, one is due every {interval:,}",
        value=since,
        limit=interval,
    )


def _format_steps(count: int) -> str:
    return "1 step" if count == 1 else f"{count:,} steps"
