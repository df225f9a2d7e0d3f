"""Does the run still hold together, and is its work saved: coherence, checkpoints."""

from __future__ import annotations

from guidance.core.number_format import beside, plain
from guidance.core.policy import ContinueLimits
from guidance.core.steps.evidence import Evidence
from guidance.core.steps.findings import Finding


def coherence(limits: ContinueLimits, evidence: Evidence) -> Finding | None:
    value = evidence.coherence
    floor = limits.min_coherence
    if value is None or value >= floor:
        return None
    return Finding(
        gate="coherence",
        decision="stop",
        message=(
            f"Coherence {beside(value, floor, places=2)}, "
            f"under the {plain(floor, places=2)} floor"
        ),
        value=value,
        limit=floor,
    )


def step_limit(limits: ContinueLimits, evidence: Evidence) -> Finding | None:
    since = evidence.since_checkpoint
    most = limits.max_consecutive_steps
    if since < most:
        return None
    return Finding(
        gate="step_limit",
        decision="stop",
        message=f"{_steps(since)} without a checkpoint, the limit is {most:,}",
        value=since,
        limit=most,
    )


def checkpoint(limits: ContinueLimits, evidence: Evidence) -> Finding | None:
    since = evidence.since_checkpoint
    interval = limits.checkpoint_interval_steps
    if since < interval:
        return None
    return Finding(
        gate="checkpoint",
        decision="checkpoint",
        message=f"{_steps(since)} without a checkpoint, one is due every {interval:,}",
        value=since,
        limit=interval,
    )


def _steps(count: int) -> str:
    return "1 step" if count == 1 else f"{count:,} steps"
