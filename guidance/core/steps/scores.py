"""Coherence and uncertainty computed from what was seen.

The parts are kept beside the value, so that a reviewer can see where it comes from.
Whatever cannot be known is None: never 0, never 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import ne
from typing import NamedTuple

from guidance.core.runs.trace import StepColumns

SCORE_WINDOW = 20
SCORE_MIN_STEPS = 5

# Logarithms are off in the sixteenth digit; without this, confidences of 0.2 would
# yield an uncertainty a hair above the 0.8 that passes.
_DIGITS = 12


class CoherenceParts(NamedTuple):
    violations: float
    rework: float
    drift: float

    def to_json(self) -> dict[str, float]:
        return {
            "violations": self.violations,
            "rework": self.rework,
            "drift": self.drift,
        }


# Where nothing was found, as of most steps (bench batches).
_COHERENT = (1.0, CoherenceParts(1.0, 1.0, 1.0))


class UncertaintyParts(NamedTuple):
    """The mean of what was observed, or less confidence, whichever is more uncertain."""

    confidence: float | None = None
    failed_calls: float | None = None
    repeated: float | None = None

    def to_json(self) -> dict[str, float | None]:
        return {
            "confidence": self.confidence,
            "failed_calls": self.failed_calls,
            "repeated": self.repeated,
        }


def compute_coherence(steps: StepColumns) -> tuple[float, CoherenceParts] | None:
    """0.4 · violations + 0.3 · rework + 0.3 · drift over the last steps."""
    weights = steps.weight[-SCORE_WINDOW:]
    n = len(weights)
    if n < SCORE_MIN_STEPS:
        return None
    rework = steps.rework[-SCORE_WINDOW:].count(True)
    changes = _count_changes(steps.intent[-SCORE_WINDOW:])
    weight = sum(weights)
    if not (rework or changes or weight):
        return _COHERENT
    clean = n - min(n, weight)
    gaps = n - 1
    # One division of exact numbers, so that 0.4 on paper is 0.4 here.
    value = ((4 * clean + 3 * (n - rework)) * gaps + 3 * n * (gaps - changes)) / (
        10 * n * gaps
    )
    return value, CoherenceParts(
        violations=clean / n, rework=(n - rework) / n, drift=(gaps - changes) / gaps
    )


def _count_changes(intents: Sequence[str | None]) -> int:
    """A step that names no intent says nothing about a change of it."""
    if intents.count(intents[0]) == len(intents):
        return 0
    named = [intent for intent in intents if intent is not None]
    return sum(map(ne, named, named[1:]))


def compute_uncertainty(
    steps: StepColumns, *, confidences: Sequence[float], repeated: bool | None
) -> tuple[float, UncertaintyParts] | None:
    """1 - the geometric mean of the step's confidences, or what can be observed.

    Confidences speak of the step itself and count from the first one on; shares of
    the last steps need as many steps as every other computed score. Of both the higher
    counts: no confidence of an agent hides a call that failed.
    """
    confidence = failed = flag = told = seen = None
    if confidences:
        confidence = _compute_geometric_mean(confidences)
        told = round(1 - confidence, _DIGITS)
    failures = steps.failed_calls[-SCORE_WINDOW:]
    if len(failures) >= SCORE_MIN_STEPS:
        failed = _compute_failed_share(failures, steps.tool_calls[-SCORE_WINDOW:])
        flag = None if repeated is None else float(repeated)
        if failed is None or flag is None:
            seen = flag if failed is None else failed
        else:
            seen = (failed + flag) / 2
    value = told if seen is None else seen if told is None else max(told, seen)
    if value is None:
        return None
    return value, UncertaintyParts(confidence, failed, flag)


def _compute_geometric_mean(values: Sequence[float]) -> float:
    if min(values) <= 0:
        return 0.0
    mean = math.exp(math.fsum(map(math.log, values)) / len(values))
    return round(mean, _DIGITS)


def _compute_failed_share(
    told: Sequence[int | None], made: Sequence[int]
) -> float | None:
    """Failed calls per call, over the steps that told how many failed."""
    if None in told:
        known = [place for place, failed in enumerate(told) if failed is not None]
        told, made = [told[place] for place in known], [made[place] for place in known]
    calls = sum(made)
    return min(sum(filter(None, told)), calls) / calls if calls else None
