"""The steps that a curve is drawn through. What was measured stands only in the payloads, so a
long run is thinned out: its page reads as many of them however long it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ledger.models import Entry, Run

POINTS = 240
# So many of the newest steps that paused or stopped the run are drawn for themselves.
MARKS = 60
_HELD = ("pause", "stop")


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPoint:
    number: int
    metrics: Mapping[str, Any]
    # What each gate decided that had something to say.
    found: Mapping[str, str]
    tokens: int
    cost_micros: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledSteps:
    """`every` is 1 where all steps are there; `entries` are what the points were read from."""

    points: tuple[StepPoint, ...]
    entries: tuple[Entry, ...]
    every: int

    @property
    def note(self) -> str:
        if self.every == 1:
            return ""
        return (
            f"Drawn through one of every {self.every} steps, where the run paused or "
            "stopped through that one."
        )


def read_steps(run: Run) -> SampledSteps:
    """One query, two for a run of more than `POINTS` steps; at most `POINTS` payloads."""
    every = -(-run.last_step // POINTS) or 1
    found = run.entries.filter(step_number__isnull=False)
    if every > 1:
        held = found.filter(decision__in=_HELD).order_by("-step_number")
        numbers = _choose_numbers(
            run.last_step, every, held.values_list("step_number", flat=True)[:MARKS]
        )
        found = found.filter(step_number__in=numbers)
    read = [
        (entry, point)
        for entry in found.order_by("step_number")
        if (point := _read_point(entry)) is not None
    ]
    return SampledSteps(
        points=tuple(point for _, point in read),
        entries=tuple(entry for entry, _ in read),
        every=every,
    )


def _choose_numbers(last: int, every: int, held: Any) -> list[int]:
    """Of each so many steps the last, or the one that paused or stopped the run; and the
    newest of all."""
    chosen = {(last - number) // every: number for number in range(last, 0, -every)}
    for number in held:
        chosen[(last - number) // every] = number
    return sorted({*chosen.values(), last})


def _read_point(entry: Entry) -> StepPoint | None:
    """None for one that was changed past the server: it must not hide all the others."""
    try:
        payload = json.loads(entry.payload)
        report, verdict = payload["report"], payload["verdict"]
        return StepPoint(
            number=entry.step_number or 0,
            metrics=verdict["metrics"],
            found={each["gate"]: each["decision"] for each in verdict["findings"]},
            tokens=report["tokens"],
            cost_micros=report["cost_micros"],
        )
    except (LookupError, RecursionError, TypeError, ValueError):
        return None
