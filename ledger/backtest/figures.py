"""The registry of entries that hold what gates measured of a step.

The app that writes such a type of entry registers how it is read:

    register_figures("step.judged", read_step_figures)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

Payload = Mapping[str, Any]


class StepFigures(NamedTuple):
    """What a step measured, under which policy, and what every gate found."""

    policy: Mapping[str, Any]
    metrics: Mapping[str, Any]
    findings: Sequence[Mapping[str, Any]]


# None: an older version of the gates measured it in another way.
ReadFigures = Callable[[Payload], StepFigures | None]
_readers: dict[str, ReadFigures] = {}


def register_figures(entry_type: str, read: ReadFigures) -> None:
    """For apps at start-up."""
    _readers[entry_type] = read


def list_measured_types() -> list[str]:
    return list(_readers)


def find_reader(entry_type: str) -> ReadFigures | None:
    return _readers.get(entry_type)
