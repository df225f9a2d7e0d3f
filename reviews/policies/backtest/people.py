"""What people had ruled, beside what a draft would have decided.

Only rulings count. Where a draft is softer, the ruling on what was asked says whether asking
was needed. Where it is stricter, a person who denied it or ended the run agrees with it.
Where nobody ruled, people say nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ledger.backtest.judges import BothJudgements, JudgedAgain
from ledger.models import Entry, Run, RunStatus
from reviews.models import Ruling

AGREE, DISAGREE, SILENT = "agree", "disagree", "silent"
# Rulings that let it go on just as it was, and those that held it. All others changed
# something: without being asked nobody would have.
_LET_ON = frozenset({"approve", "skip"})
_HELD = frozenset({"deny", "abort"})


class Opinion(NamedTuple):
    """`ruling` is what a person chose about this very decision, if anybody did."""

    people: str
    ruling: str
    run_aborted: bool


@dataclass(frozen=True, slots=True)
class Rulings:
    """What people had ruled in some runs: by review, and where they ended the run."""

    by_review: dict[str, str]
    aborted_at: dict[int, int]

    def find_opinion(self, item: JudgedAgain) -> Opinion:
        assert isinstance(item.outcome, BothJudgements)
        before, after = (each["decision"] for each in item.outcome)
        ruling = self.by_review.get(item.review or "", "")
        aborted = self.aborted_at.get(item.run_id, 0) > item.seq
        if item.kind.is_stricter(before, after):
            agrees = ruling in _HELD or (not ruling and aborted)
        else:
            agrees = ruling in _LET_ON
        said = AGREE if agrees else DISAGREE if ruling else SILENT
        return Opinion(people=said, ruling=ruling, run_aborted=aborted)


def read_rulings(items: Iterable[JudgedAgain]) -> Rulings:
    """Of the runs of these decisions, by three queries."""
    reviews = {item.review for item in items if item.review}
    rulings = Ruling.objects.filter(review__code__in=reviews)
    ended = Run.objects.filter(
        pk__in={item.run_id for item in items}, status=RunStatus.ABORTED
    )
    aborted = Entry.objects.filter(
        run__in=list(ended), type="run.aborted", actor__startswith="user:"
    ).exclude(payload__contains='"above":')  # nobody looked at those themselves
    return Rulings(
        by_review={
            str(code): action
            for code, action in rulings.values_list("review__code", "action")
        },
        aborted_at=dict(aborted.values_list("run_id", "seq")),
    )


@dataclass(slots=True)
class Agreement:
    """How far people's rulings go along with a draft."""

    opinions: Counter[str] = field(default_factory=Counter)
    more: Counter[str] = field(default_factory=Counter)
    less: Counter[str] = field(default_factory=Counter)
    asking_runs: set[int] = field(default_factory=set)

    def add(self, item: JudgedAgain, opinion: Opinion) -> str:
        """Whether it asks people `more` or `less` often, or neither."""
        assert isinstance(item.outcome, BothJudgements)
        asks = item.kind.compare_asking(*(each["decision"] for each in item.outcome))
        self.opinions[opinion.people] += 1
        if asks == "more":
            self.more["total"] += 1
            self.asking_runs.add(item.run_id)
            self.more["run_aborted"] += opinion.run_aborted
        elif asks == "less":
            self.less["total"] += 1
            self.less[opinion.ruling or "no_ruling"] += 1
        return asks

    def to_json(self) -> dict[str, Any]:
        return {
            **{name: self.opinions[name] for name in (AGREE, DISAGREE, SILENT)},
            "asked_more": {
                "total": self.more["total"],
                "runs": len(self.asking_runs),
                "run_aborted": self.more["run_aborted"],
            },
            "asked_less": {"total": 0, **self.less},
        }
