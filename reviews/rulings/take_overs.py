"""Taking over a claim. It is no lock, so anybody may; but they know it, and so does
whoever had claimed the review."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F, Q

from accounts.auth import PersonPrincipal
from accounts.models import User
from common.errors import PreconditionRequired
from ledger.models import Entry
from reviews.models import Review
from safetext import make_visible_line

TAKING_OVER = (
    *("review.claimed", "review.ruled", "review.assigned"),
    "review.commented",
)


def get_other_claimer(
    review: Review, person: PersonPrincipal, *, at: datetime
) -> User | None:
    """Who has this review, if it is somebody else: by a claim that holds, or because it was
    assigned to them. Asked of the database: under the project's lock it stays so."""
    held = Q(review__assigned_at__isnull=False) | Q(review__claimed_until__gt=at)
    others = User.objects.exclude(pk=person.user_id).filter(held, review=review.pk)
    for other in others.annotate(claimed_until=F("review__claimed_until")):
        return other
    return None


def refuse_unseen_claim(claimer: User | None, *, seen: str, to: str) -> None:
    """On a screen: whoever goes on has been told whose claim they take over."""
    if claimer is not None and str(claimer.code) != seen:
        name = make_visible_line(claimer.display_name)
        claimed = getattr(claimer, "claimed_until", None) is not None
        has = "has claimed this" if claimed else "was given this"
        raise PreconditionRequired(
            f"{name} {has}. Press again to {to}.", claimer=str(claimer.code)
        )


def build_taken_from(claimer: User | None) -> dict[str, str]:
    """What the ledger keeps of it, beside the rest of an entry."""
    return {"taken_from": f"user:{claimer.code}"} if claimer else {}


def is_taken_from(viewer: User, history: Sequence[Entry]) -> bool:
    """Whether the newest claim of a review took it from this person."""
    for entry in reversed(history):
        if entry.type in ("review.claimed", "review.released", "review.assigned"):
            taken = json.loads(entry.payload).get("taken_from")
            return bool(taken == f"user:{viewer.code}")
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeOver:
    """What somebody is told about a review that another has now: who is told (their code),
    the words, the review."""

    claimer: str
    text: str
    review: str


def list_take_overs(*, project_id: int, since: int, until: int) -> list[TakeOver]:
    """Between two positions of the project, oldest first."""
    entries = Entry.objects.filter(
        Q(payload__contains='"taken_from"')
        | Q(payload__contains='"mentions"')
        | Q(type="review.assigned"),
        project_id=project_id,
        position__gt=since,
        position__lte=until,
        type__in=TAKING_OVER,
    ).order_by("position")
    found = [(entry, json.loads(entry.payload)) for entry in entries]
    if not found:
        return []
    names = {
        f"user:{person.code}": make_visible_line(person.display_name)
        for person in User.objects.filter(
            code__in={UUID(entry.actor.removeprefix("user:")) for entry, _ in found}
        )
    }
    titles = dict(
        Review.objects.filter(
            code__in=[payload["review"] for _, payload in found]
        ).values_list("code", "title")
    )
    return [
        TakeOver(
            claimer=told.removeprefix("user:"),
            text=f"{names[entry.actor]} {words}: "
            f"{make_visible_line(titles[UUID(payload['review'])])}",
            review=payload["review"],
        )
        for entry, payload in found
        for told, words in _list_told(entry, payload)
    ]


_TAKEN = {
    "review.claimed": "took this over from you",
    "review.ruled": "decided what you had claimed",
    "review.assigned": "gave to another what you had",
}


def _list_told(entry: Entry, payload: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Who is told, and how it goes on after the name of who did it."""
    for mentioned in payload.get("mentions", ()):
        yield mentioned, "mentioned you"
    if payload.get("taken_from"):
        yield payload["taken_from"], _TAKEN[entry.type]
    if entry.type == "review.assigned" and payload["to"] not in (None, entry.actor):
        yield payload["to"], "gave this to you"
