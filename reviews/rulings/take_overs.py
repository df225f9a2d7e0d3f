"""Taking over a claim. It is no lock, so anybody may; but they know it, and so does
whoever had claimed the review."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from accounts.auth import PersonPrincipal
from accounts.models import User
from common.errors import PreconditionRequired
from ledger.models import Entry
from reviews.models import Review
from safetext import make_visible_line

TAKING_OVER = ("review.claimed", "review.ruled")


def get_other_claimer(review: Review, person: PersonPrincipal) -> User | None:
    """Who has claimed this review, if it is somebody else. Asked of the database: under
    the project's lock nobody claims it meanwhile."""
    claimers = User.objects.filter(review=review.pk).exclude(pk=person.user_id)
    for claimer in claimers:
        return claimer
    return None


def refuse_unseen_claim(claimer: User | None, *, seen: str, to: str) -> None:
    """On a screen: whoever goes on has been told whose claim they take over."""
    if claimer is not None and str(claimer.code) != seen:
        raise PreconditionRequired(
            f"{make_visible_line(claimer.display_name)} has claimed this. "
            f"Press again to {to}.",
            claimer=str(claimer.code),
        )


def build_taken_from(claimer: User | None) -> dict[str, str]:
    """What the ledger keeps of it, beside the rest of an entry."""
    return {"taken_from": f"user:{claimer.code}"} if claimer else {}


def is_taken_from(viewer: User, history: Sequence[Entry]) -> bool:
    """Whether the newest claim of a review took it from this person."""
    for entry in reversed(history):
        if entry.type in ("review.claimed", "review.released"):
            taken = json.loads(entry.payload).get("taken_from")
            return bool(taken == f"user:{viewer.code}")
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeOver:
    """What the one who had claimed a review is told: their code, the words, the review."""

    claimer: str
    text: str
    review: str


def list_take_overs(*, project_id: int, since: int, until: int) -> list[TakeOver]:
    """Between two positions of the project, oldest first."""
    entries = Entry.objects.filter(
        project_id=project_id,
        position__gt=since,
        position__lte=until,
        type__in=TAKING_OVER,
        payload__contains='"taken_from"',
    ).order_by("position")
    found = [(entry, json.loads(entry.payload)) for entry in entries]
    found = [(entry, payload) for entry, payload in found if "taken_from" in payload]
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
            claimer=payload["taken_from"].removeprefix("user:"),
            text=_build_text(
                entry.type,
                by=names[entry.actor],
                title=make_visible_line(titles[UUID(payload["review"])]),
            ),
            review=payload["review"],
        )
        for entry, payload in found
    ]


def _build_text(entry_type: str, *, by: str, title: str) -> str:
    if entry_type == "review.claimed":
        return f"{by} took this over from you: {title}"
    return f"{by} decided what you had claimed: {title}"
