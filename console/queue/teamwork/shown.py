"""Who has a review, until when, and what the one before them said."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.utils.html import format_html
from django.utils.safestring import SafeString

from accounts.models import User
from console.format import format_ago, format_iso, format_left
from console.people import Person, build_person
from console.queue.teamwork.forms import EVERYBODY, ROLE_CHOICES, SNOOZES
from ledger.models import Entry
from reviews.models import Review, ReviewState, SnoozedFor
from reviews.rulings.take_overs import is_taken_from
from reviews.teamwork.assignment import list_reviewers
from safetext import make_visible

_ASIDE: dict[str, str] = {
    SnoozedFor.TIME: "Set aside",
    SnoozedFor.RUN: "Set aside until something happens in the run",
    SnoozedFor.COMMENT: "Set aside until somebody comments",
}
HOLDING = ("review.claimed", "review.released", "review.assigned")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownNote:
    """What came with the review when it was given on."""

    by: Person
    text: str
    at: str
    ago: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Teamwork:
    """`holder` says who has it, to everybody but to them; `since` from when on. A claim
    ends at `until`. `choices` are to whom it can be given, `snoozes` until when it can be
    set aside; `aside` says that it is."""

    holder: SafeString
    since: str
    ago: str
    until: str
    left: str
    note: ShownNote | None
    choices: list[tuple[str, str]]
    snoozes: list[tuple[str, str]]
    aside: str
    back_at: str
    back_in: str


def build_teamwork(
    review: Review, *, viewer: User, history: Sequence[Entry], at: datetime
) -> Teamwork:
    """With two queries: who can be given it, and who has given it."""
    since = review.claimed_at or review.assigned_at
    people = _get_people(history)
    return Teamwork(
        holder=_describe_holder(review, viewer=viewer, history=history, people=people),
        since=format_iso(since) if since else "",
        ago=format_ago((at - since).total_seconds()) if since else "",
        until=format_iso(review.claimed_until) if review.claimed_until else "",
        left=(
            format_left((review.claimed_until - at).total_seconds())
            if review.claimed_until
            else ""
        ),
        note=_find_note(history, people=people, at=at),
        choices=_list_choices(review) if review.state == ReviewState.OPEN else [],
        snoozes=[*SNOOZES.items()],
        aside=_ASIDE.get(review.snoozed_for, ""),
        back_at=format_iso(review.snoozed_until) if review.snoozed_until else "",
        back_in=(
            format_left((review.snoozed_until - at).total_seconds())
            if review.snoozed_until
            else ""
        ),
    )


def _list_choices(review: Review) -> list[tuple[str, str]]:
    people = [
        (person.username, build_person(person).name)
        for person in list_reviewers(review.project_id)
        if person.pk != review.assignee_id
    ]
    everybody = [(EVERYBODY, "Everybody")] if review.assignee_id else []
    return [*everybody, *ROLE_CHOICES.items(), *people]


def _describe_holder(
    review: Review,
    *,
    viewer: User,
    history: Sequence[Entry],
    people: dict[str, Person],
) -> SafeString:
    """Who else has it, or from whom the viewer took it over; else empty."""
    if review.assignee is None:
        return SafeString("")
    if review.assignee_id != viewer.pk:
        taken = is_taken_from(viewer, history)
        claimed = "has claimed this" if review.claimed_at else "was given this"
        return format_html(
            "<b>{}</b> {}",
            build_person(review.assignee).name,
            "took this over from you" if taken else claimed,
        )
    last = _find_last(history)
    before = people.get(last.get("taken_from", ""))
    if before is None or not review.claimed_at:
        return SafeString("")
    return format_html("You took this over from <b>{}</b>, who was told", before.name)


def _find_last(history: Sequence[Entry]) -> dict[str, str]:
    """What was said last about who has it."""
    for entry in reversed(history):
        if entry.type in HOLDING:
            found: dict[str, str] = json.loads(entry.payload)
            return found
    return {}


def _find_note(
    history: Sequence[Entry], *, people: dict[str, Person], at: datetime
) -> ShownNote | None:
    """The newest that somebody left for the next."""
    for entry in reversed(history):
        if entry.type == "review.assigned" and entry.actor in people:
            text = json.loads(entry.payload)["note"]
            return (
                ShownNote(
                    by=people[entry.actor],
                    text=make_visible(text),
                    at=format_iso(entry.at),
                    ago=format_ago((at - entry.at).total_seconds()),
                )
                if text
                else None
            )
    return None


def _get_people(history: Sequence[Entry]) -> dict[str, Person]:
    """Those whom the entries about who has it name, by "user:<code>"."""
    named: set[str] = set()
    for entry in history:
        if entry.type in HOLDING:
            named |= {entry.actor, json.loads(entry.payload).get("taken_from") or ""}
    prefix = "user:"
    codes = [
        UUID(each.removeprefix(prefix)) for each in named if each.startswith(prefix)
    ]
    if not codes:
        return {}
    found = User.objects.filter(code__in=codes)
    return {f"{prefix}{person.code}": build_person(person) for person in found}
