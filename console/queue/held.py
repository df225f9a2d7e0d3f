"""Rulings that are about to be sent, as the detail of a review tells of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from accounts.models import User
from console.format import format_iso, format_seconds
from console.people import build_person
from console.queue.outcome import describe_ruling
from reviews.models import Review
from reviews.rulings.held import is_stale


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownHeld:
    """`left_ms` is how long its page waits from now on. `after` names who is sent before
    the viewer: theirs may close the review."""

    code: str
    mine: bool
    icon: str
    tone: str
    sentence: str
    due_at: str
    left: str
    left_ms: int
    after: str = ""


def list_held(review: Review, *, viewer: User, at: datetime) -> list[ShownHeld]:
    """The viewer's own first."""
    if review.closed_at is not None:
        return []
    rows = review.held.select_related("by").order_by("due_at", "pk")
    held = [row for row in rows if not is_stale(row, at)]
    shown = []
    for row in held:
        icon, tone, did = describe_ruling(row.action)
        mine = row.by_id == viewer.pk
        name = build_person(row.by).name
        sooner = build_person(held[0].by).name if row is not held[0] else ""
        left = max(0.0, (row.due_at - at).total_seconds())
        shown.append(
            ShownHeld(
                code=f"{row.pk}",
                mine=mine,
                icon=icon,
                tone=tone,
                sentence=f"{'You' if mine else name} {did}",
                due_at=format_iso(row.due_at),
                left=format_seconds(left),
                left_ms=round(left * 1000),
                after=sooner if mine else "",
            )
        )
    return sorted(shown, key=lambda each: not each.mine)
