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


_NUMBERS = (
    *("one", "two", "three", "four", "five"),
    *("six", "seven", "eight", "nine", "ten"),
)
_PLACES = (
    *("first", "second", "third", "fourth", "fifth"),
    *("sixth", "seventh", "eighth", "ninth", "tenth"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownApprovals:
    """`refusal` says why the viewer's own approval would not count; where it would, `place`
    says which one it would be. `owner` never counts. `call` is what is to run instead since
    `change`, with what the gates say of it."""

    title: str
    count: str
    marks: list[bool]
    place: str
    hint: str
    label: str
    owner: Person | None
    given: list[ShownApproval]
    change: ShownApproval | None
    call: ChangedCall | None
    changes: tuple[ShownChange, ...]
    refusal: str


def build_approvals(
    review: Review, *, viewer: User, at: datetime, once: str
) -> ShownApprovals | None:
    """None where one person decides. `once` is said of those who allow nothing beforehand."""
    approvals = load_approvals(review)
    if approvals is None:
        return None
    change = approvals.amendment
    refusal = _find_refusal(approvals, viewer=viewer)
    needed, given = review.approvals_needed, review.approvals_given
    place = "" if review.closed_at or refusal else _PLACES[given]
    content = json.loads(review.content)
    # A plan that was changed stands whole on its page.
    changed_call = change if "shown" in content else None
    shown = _read_change(changed_call) if changed_call else {}
    return ShownApprovals(
        title=f"{_NUMBERS[needed - 1].capitalize()} people must approve",
        count=f"{given} of {needed}",
        marks=[number < given for number in range(needed)],
        place=place,
        hint="Nothing goes on before the last approval; one refusal ends it."
        if given + 1 < needed
        else "",
        label=f"Approve, {place} of {_NUMBERS[needed - 1]}" if place else "Approve",
        owner=None if review.closed_at else _find_owner(review),
        given=[
            _build_approval(row, "approved", at, allowed=_describe_choice(row) or once)
            for row in approvals.counted
        ],
        change=_build_approval(change, "changed what is to run", at)
        if change
        else None,
        call=build_changed_call(
            review, content, shown=shown, findings=json.loads(changed_call.findings)
        )
        if changed_call
        else None,
        changes=build_changes(content, shown) if changed_call else (),
        refusal=refusal,
    )


def _build_approval(
    row: ReviewApproval, did: str, at: datetime, *, allowed: str = ""
) -> ShownApproval:
    return ShownApproval(
        by=build_person(row.by),
        did=did,
        allowed=allowed,
        note=make_visible(row.note),
        at=format_iso(row.at),
        ago=format_ago((at - row.at).total_seconds()),
    )


def _describe_choice(row: ReviewApproval) -> str:
    """For how long a paused run may go on if it is for this person; empty: only once."""
    choice = read_choice(row.allowance)
    if choice is None:
        return ""
    return (
        f"{choice.gate} up to {format_value(choice.gate, choice.up_to)} for "
        f"{format_count(choice.steps, 'step')}, {format_seconds(choice.minutes * 60)} at most"
    )


def _read_change(row: ReviewApproval) -> dict[str, Any]:
    """The call as it is to run, without its digest."""
    changed: dict[str, Any] = json.loads(row.amended or "{}")
    changed.pop("digest", None)
    return changed


def _find_owner(review: Review) -> Person | None:
    owner = review.run.agent.owner
    return build_person(owner) if owner else None


def _find_refusal(approvals: Approvals, *, viewer: User) -> str:
    if approvals.review.closed_at is not None:
        return ""
    return approvals.find_refusal(f"user:{viewer.code}")
