"""The one band table."""

from __future__ import annotations

import pytest

from guidance.core.runs.score_bands import get_coherence_level, get_uncertainty_level
from tests.guidance.core.builders import ask, list_gates
from tests.support.rows import each_row

EVERY_HUNDREDTH = [n / 100 for n in range(101)]


@each_row(
    ("value", "level"),
    [
        pytest.param(0.8, "healthy", id="CG-26-healthy"),
        pytest.param(0.7, "healthy", id="healthy-from-0.7"),
        pytest.param(0.69999, "degraded", id="degraded-below-0.7"),
        pytest.param(0.5, "degraded", id="CG-26-degraded"),
        pytest.param(0.4, "degraded", id="degraded-from-0.4"),
        pytest.param(0.39999, "critical", id="critical-below-0.4"),
        pytest.param(0.2, "critical", id="CG-04-critical"),
        pytest.param(None, None, id="unknown-has-no-level"),
    ],
)
def test_coherence_levels(value: float | None, level: str | None) -> None:
    assert get_coherence_level(value) == level


@each_row(
    ("value", "level"),
    [
        pytest.param(0.2, "low", id="CG-27-low"),
        pytest.param(0.3, "low", id="low-up-to-0.3"),
        pytest.param(0.5, "moderate", id="CG-27-moderate"),
        pytest.param(0.6, "moderate", id="moderate-up-to-0.6"),
        pytest.param(0.7, "high", id="CG-27-high"),
        pytest.param(0.8, "high", id="high-up-to-0.8"),
        pytest.param(0.80001, "extreme", id="extreme-above-0.8"),
        pytest.param(0.9, "extreme", id="CG-19-extreme"),
        pytest.param(None, None, id="unknown-has-no-level"),
    ],
)
def test_uncertainty_levels(value: float | None, level: str | None) -> None:
    assert get_uncertainty_level(value) == level


@each_row("value", EVERY_HUNDREDTH)
def test_gate_and_bands_agree_on_every_score(value: float) -> None:
    """CO-16 R: the default policy stops and pauses exactly in the last bands."""
    coherent = ask(coherence_score=value)
    assert ("coherence" in list_gates(coherent)) == (
        coherent.metrics.coherence_level == "critical"
    )
    unsure = ask(uncertainty_score=value)
    assert ("uncertainty" in list_gates(unsure)) == (
        unsure.metrics.uncertainty_level == "extreme"
    )
