"""The one table of score bands, read by gates, metrics and pages alike."""

from __future__ import annotations

COHERENCE_HEALTHY = 0.7
COHERENCE_DEGRADED = 0.4

UNCERTAINTY_LOW = 0.3
UNCERTAINTY_MODERATE = 0.6
UNCERTAINTY_HIGH = 0.8


def get_coherence_level(value: float | None) -> str | None:
    if value is None:
        return None
    if value >= COHERENCE_HEALTHY:
        return "healthy"
    if value >= COHERENCE_DEGRADED:
        return "degraded"
    return "critical"


def get_uncertainty_level(value: float | None) -> str | None:
    if value is None:
        return None
    if value <= UNCERTAINTY_LOW:
        return "low"
    if value <= UNCERTAINTY_MODERATE:
        return "moderate"
    if value <= UNCERTAINTY_HIGH:
        return "high"
    return "extreme"
