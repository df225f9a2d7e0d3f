"""How far a review is that takes several approvals, as its detail shows it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from accounts.models import User
from console.format import format_ago, format_count, format_iso, format_seconds
from console.people import Person, build_person
from console.queue.amending.changes import ShownChange, build_changes
from console.queue.call_parts import ChangedCall, build_changed_call
from guidance.core.steps.allowances import format_value
from reviews.allowances.giving import read_choice
from reviews.models import Review, ReviewApproval
from reviews.rulings.four_eyes import Approvals, load_approvals
from safetext import make_visible


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownApproval:
    by: Person
    did: str
    allowed: str
    note: str
    at: str
    ago: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownApprovals:
    """`refusal` says why the viewer's own approval would not count. `call` is what is to
    run instead since `change`, with what the gates say of it."""

    count: str
    given: list[ShownApproval]
    change: ShownApproval | None
    call: ChangedCall | None
    changes: tuple[ShownChange, ...]
    refusal: str


def build_approvals(
    review: Review, *, viewer: User, at: datetime
) -> ShownApprovals | None:
    """None where one person decides."""
    approvals = load_approvals(review)
    if approvals is None:
        return None
    change = approvals.amendment
    content = json.loads(review.content)
    shown = _read_change(change) if change else {}
    return ShownApprovals(
        count=f"{review.approvals_given} of {review.approvals_needed}",
        given=[_build_approval(row, "approved", at) for row in approvals.counted],
        change=_build_approval(change, "changed what is to run", at)
        if change
        else None,
        call=build_changed_call(
            review, content, shown=shown, findings=json.loads(change.findings)
        )
        if change
        else None,
        changes=build_changes(content, shown) if change else (),
        refusal=_find_refusal(approvals, viewer=viewer),
    )


def _build_approval(row: ReviewApproval, did: str, at: datetime) -> ShownApproval:
    return ShownApproval(
        by=build_person(row.by),
        did=did,
        allowed=_describe_choice(row),
        note=make_visible(row.note),
        at=format_iso(row.at),
        ago=format_ago((at - row.at).total_seconds()),
    )


def _describe_choice(row: ReviewApproval) -> str:
    """For how long a paused run may go on if it is for this person."""
    if row.review.kind != "pause":
        return ""
    choice = read_choice(row.allowance)
    if choice is None:
        return "this once"
    return (
        f"{choice.gate} up to {format_value(choice.gate, choice.up_to)} for "
        f"{format_count(choice.steps, 'step')}, {format_seconds(choice.minutes * 60)} at most"
    )


def _read_change(row: ReviewApproval) -> dict[str, Any]:
    """The call as it is to run, without its digest."""
    changed: dict[str, Any] = json.loads(row.amended or "{}")
    changed.pop("digest", None)
    return changed


def _find_refusal(approvals: Approvals, *, viewer: User) -> str:
    if approvals.review.closed_at is not None:
        return ""
    return approvals.find_refusal(f"user:{viewer.code}")
