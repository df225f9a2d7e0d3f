"""The part of a policy that says when counted facts become a recommendation."""

from __future__ import annotations

from dataclasses import dataclass

from guidance.core.settings import flag, part, share, whole

_DAYS_LIMIT = 366
_TIMES_LIMIT = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """`share` of at least `at_least` cases: few cases say nothing, however alike."""

    at_least: int = whole(
        1, "At least", "Fewer say nothing.", low=1, high=_TIMES_LIMIT, unit="times"
    )
    share: float = share(1.0, "Share", "This share of them.")

    def is_met(self, times: int, of: int) -> bool:
        return of >= self.at_least and times >= self.share * of


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnSection:
    """`days` is how far back facts are counted, and how long the same recommendation
    rests once a person has answered it: until no case is counted for a second time."""

    recommend: bool = flag(True, "In use", "Whether it recommends at all.")
    days: int = whole(
        30,
        "Looks back",
        "And an answered recommendation rests for as long.",
        low=1,
        high=_DAYS_LIMIT,
        unit="days",
    )
    gate_skipped: Threshold = part(
        Threshold,
        "Skipped gates",
        "Checks of a gate that people skip.",
        default=Threshold(at_least=10, share=0.8),
    )
    always_approved: Threshold = part(
        Threshold,
        "Approved calls",
        "Calls of a rule that are approved.",
        default=Threshold(at_least=20, share=1.0),
    )
    runs_failed: Threshold = part(
        Threshold,
        "Failed runs",
        "Runs of an agent that fail.",
        default=Threshold(at_least=8, share=0.7),
    )
