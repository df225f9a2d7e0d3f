"""The fixed vocabularies: step decisions, call decisions and intents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

# Most severe first.
STEP_DECISIONS = ("stop", "pause", "throttle", "checkpoint", "continue")
CALL_DECISIONS = ("block", "require-confirmation", "warn", "allow")

INTENTS = (
    "bug-fix",
    "feature",
    "refactor",
    "security",
    "performance",
    "testing",
    "docs",
    "deployment",
    "architecture",
    "debug",
    "general",
)

# How much one finding on a tool call counts against the coherence of its step.
# Quarters, so that sums of them are exact.
CALL_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {"block": 1.0, "require-confirmation": 0.5, "warn": 0.25, "allow": 0.0}
)

_RANK = {word: rank for rank, word in enumerate(STEP_DECISIONS)}
_CALL_RANK = {word: rank for rank, word in enumerate(CALL_DECISIONS)}


def get_severity(decision: str) -> int:
    """0 for the most severe step decision; an unknown word is an error."""
    try:
        return _RANK[decision]
    except KeyError:
        raise ValueError(f"unknown step decision {decision!r}") from None


def get_call_severity(decision: str) -> int:
    """The same for call decisions."""
    try:
        return _CALL_RANK[decision]
    except KeyError:
        raise ValueError(f"unknown call decision {decision!r}") from None


def choose_most_severe(decisions: Iterable[str]) -> str:
    """The worst of the given step decisions, `continue` when there is none."""
    return STEP_DECISIONS[min(map(get_severity, decisions), default=-1)]


def choose_most_severe_call(decisions: Iterable[str]) -> str:
    """The worst of the given call decisions, `allow` when there is none."""
    return CALL_DECISIONS[min(map(get_call_severity, decisions), default=-1)]
