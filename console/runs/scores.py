"""Scores of a step: what the agent says, what was seen, and which of them counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Metrics = Mapping[str, Any]
# The name of each score, and which of two counts.
SCORES = {"coherence": "lower", "uncertainty": "higher"}

_ORIGINS = {"reported": "it says", "computed": "we see"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownScore:
    """`both` is a sentence where the agent says another score than was seen, `overruled`
    whether its word did not count."""

    name: str
    value: str
    origin: str
    both: str
    overruled: bool


def list_scores(metrics: Metrics) -> tuple[ShownScore, ...]:
    """Those that are known."""
    return tuple(
        ShownScore(
            name=score.capitalize(),
            value=f"{metrics[score]:.2f}",
            origin=_ORIGINS[metrics[f"{score}_source"]],
            both=_build_sentence(metrics, score),
            overruled=is_overruled(metrics, score),
        )
        for score in SCORES
        if metrics.get(score) is not None
    )


def list_overruled(metrics: Metrics, *, said: frozenset[str]) -> Iterator[str]:
    """A line for each score of which the agent's word did not count, but for those that
    a finding has `said` already."""
    for score in SCORES:
        if score not in said and is_overruled(metrics, score):
            yield f"{score.capitalize()}: {describe_both(metrics, score)}"


def is_overruled(metrics: Metrics, score: str) -> bool:
    is_seen = metrics.get(f"{score}_source") == "computed"
    return is_seen and bool(describe_both(metrics, score))


def describe_both(metrics: Metrics, score: str) -> str:
    """What the agent says and what was seen, where they differ; steps of earlier
    versions have only the one that counted."""
    said, seen = metrics.get(f"{score}_reported"), metrics.get(f"{score}_computed")
    if said is None or seen is None or f"{said:.2f}" == f"{seen:.2f}":
        return ""
    return f"says {said:.2f}, we see {seen:.2f}"


def _build_sentence(metrics: Metrics, score: str) -> str:
    both = describe_both(metrics, score)
    counts = f"the {SCORES[score]} counts"
    return f"{score.capitalize()}: {both}, {counts}." if both else ""
