"""What follows from the end of a review, where an app above this one has to say.

It is asked while the end is decided, under the project's lock: what it adds to the plan
is stored together with the end, and a refusal leaves the review open.
"""

from __future__ import annotations

from collections.abc import Callable

from ledger.plan import Plan
from ledger.state import OpenReview

# The plan, the review, how it ended (the ruling, expired or superseded), and by whom.
Aftermath = Callable[[Plan, OpenReview, str, str], None]
_by_kind: dict[str, Aftermath] = {}


def register_aftermath(kind: str, aftermath: Aftermath) -> None:
    """For apps at start-up."""
    _by_kind[kind] = aftermath


def follow_up(plan: Plan, review: OpenReview, *, ending: str, actor: str) -> None:
    aftermath = _by_kind.get(review.kind)
    if aftermath is not None:
        aftermath(plan, review, ending, actor)
