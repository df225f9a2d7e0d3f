"""What a run need not ask about, as pages show it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from console.format import format_count, format_iso, format_seconds
from console.people import Person, build_person
from guidance.core.runs.allowances import Allowance
from guidance.core.steps.allowances import format_value
from ledger.allowances import list_allowances
from ledger.models import Run
from reviews.models import Ruling
from safetext import make_visible


@dataclass(frozen=True, slots=True, kw_only=True)
class RunAllowance:
    """`by` is None where the person is no longer known."""

    code: str
    text: str
    left: str
    ends_at: str
    ends_in: str
    by: Person | None
    note: str
    review: str


def list_run_allowances(run: Run, *, at: datetime) -> tuple[RunAllowance, ...]:
    """Another query where there are any: who gave them, and why."""
    found = list_allowances(run, at=at)
    if not found:
        return ()
    rulings = Ruling.objects.select_related("by", "review").filter(
        review__code__in=[each.review for each in found]
    )
    by_review = {str(each.review.code): each for each in rulings}
    return tuple(
        _build(each, by_review.get(each.review), last_step=run.last_step, at=at)
        for each in found
    )


def describe_allowance(allowance: Allowance) -> str:
    up_to = format_value(allowance.gate, allowance.up_to)
    return f"{allowance.gate.capitalize()} up to {up_to}"


def _build(
    allowance: Allowance, ruling: Ruling | None, *, last_step: int, at: datetime
) -> RunAllowance:
    left = allowance.count_left(last_step)
    return RunAllowance(
        code=allowance.code,
        text=describe_allowance(allowance),
        left=f"{left:,} of {format_count(allowance.steps, 'step')} left",
        ends_at=format_iso(allowance.ends_at),
        ends_in=format_seconds((allowance.ends_at - at).total_seconds()),
        by=build_person(ruling.by) if ruling else None,
        note=make_visible(ruling.note) if ruling else "",
        review=allowance.review,
    )
