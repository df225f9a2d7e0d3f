"""What the ruling on a review has allowed, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from console.format import format_ago, format_count
from console.runs.allowances import describe_allowance
from reviews.allowances.selectors import STANDING, GivenAllowance, find_allowance
from reviews.models import Review
from safetext import make_visible_line

_ENDS = {
    "steps": "All its steps are used",
    "time": "Its time is over",
    "replaced": "Another one was given",
    "run_ended": "The run has ended",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownAllowance:
    """`stands` while it can be taken back."""

    code: str
    text: str
    state: str
    stands: bool


def build_given(review: Review, *, at: datetime) -> ShownAllowance | None:
    """None where nothing was allowed."""
    given = find_allowance(review, at=at)
    if given is None:
        return None
    allowance = given.allowance
    steps = format_count(allowance.steps, "step")
    return ShownAllowance(
        code=allowance.code,
        text=f"{describe_allowance(allowance)} for {steps}",
        state=_describe_state(given, at),
        stands=given.state == STANDING,
    )


def _describe_state(given: GivenAllowance, at: datetime) -> str:
    if given.state == STANDING:
        return f"{given.steps_left:,} left"
    if given.state == "revoked":
        who = make_visible_line(given.taken_back_by or "somebody")
        ago = format_ago((at - (given.ended_at or at)).total_seconds())
        return f"Taken back by {who} {ago}"
    return _ENDS.get(given.state, "It has ended")
