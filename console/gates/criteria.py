"""The criteria of a gate as pages list them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from guidance.core.checks import Criterion, GateDefinition
from safetext import make_visible

SEVERITY_TONES = {"critical": "stop", "high": "pause", "medium": "", "low": "line"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCriterion:
    """`name` is how evidence refers to it, where it has to be proven by `verifier`."""

    name: str
    text: str
    verifier: str
    command: str
    unproven: bool


def list_criteria(
    gate: GateDefinition, unproven: Sequence[str] = ()
) -> tuple[ShownCriterion, ...]:
    return tuple(
        ShownCriterion(
            name=name,
            text=make_visible(criterion.text),
            verifier=criterion.verifier or "",
            command=make_visible(criterion.command or ""),
            unproven=name in unproven,
        )
        for name, criterion in name_criteria(gate)
    )


def name_criteria(gate: GateDefinition) -> Iterator[tuple[str, Criterion]]:
    """Each criterion with the name that evidence gives it."""
    for place, criterion in enumerate(gate.criteria, 1):
        yield f"{gate.slug}.{place}", criterion
