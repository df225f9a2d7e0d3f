"""The part of a policy that says when counted facts become a recommendation."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from guidance.core.document_reader import Section

_DAYS_LIMIT = 366
_TIMES_LIMIT = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """`share` of at least `at_least` cases: few cases say nothing, however alike."""

    at_least: int
    share: float

    def is_met(self, times: int, of: int) -> bool:
        return of >= self.at_least and times >= self.share * of


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnSection:
    """`days` is how far back facts are counted, and how long the same recommendation
    rests once a person has answered it: until no case is counted for a second time."""

    recommend: bool = True
    days: int = 30
    gate_skipped: Threshold = field(
        default_factory=lambda: Threshold(at_least=10, share=0.8)
    )
    always_approved: Threshold = field(
        default_factory=lambda: Threshold(at_least=20, share=1.0)
    )
    runs_failed: Threshold = field(
        default_factory=lambda: Threshold(at_least=8, share=0.7)
    )

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def read_learn_section(section: Section) -> LearnSection:
    default = LearnSection()

    def threshold(name: str, usual: Threshold) -> Threshold:
        part = section.read_part(name)
        found = Threshold(
            at_least=part.read_integer(
                "at_least", usual.at_least, low=1, high=_TIMES_LIMIT
            ),
            share=part.read_number("share", usual.share, low=0, high=1),
        )
        part.close()
        return found

    learn = LearnSection(
        recommend=section.read_flag("recommend", default=default.recommend),
        days=section.read_integer("days", default.days, low=1, high=_DAYS_LIMIT),
        gate_skipped=threshold("gate_skipped", default.gate_skipped),
        always_approved=threshold("always_approved", default.always_approved),
        runs_failed=threshold("runs_failed", default.runs_failed),
    )
    section.close()
    return learn
