"""What people say to each other about a review: comments, answers to them, mentions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from uuid import UUID

from django.utils import timezone

from accounts.models import User
from common.errors import Invalid
from common.ids import parse_code
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change
from reviews.models import Comment, Mention, Review, SnoozedFor
from reviews.rulings.rule import ReviewChangeRequest
from reviews.teamwork.snooze import BACK

_MENTION = re.compile(r"(?<![\w@.])@([\w.+-]{1,150})")


@dataclass(kw_only=True)
class AddComment(ReviewChangeRequest):
    """A comment may be added while the review is open and after it was closed."""

    text: str
    reply_to: UUID | None = None
    mentioned: list[User] = field(default_factory=list)

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        plan = Plan(run, at)
        comment = Comment(
            review_id=self.review.pk,
            author_id=self.person.user_id,
            text=self.text,
            at=at,
            reply_to_id=self.reply_to,
        )
        more: dict[str, object] = {}
        if self.reply_to:
            more["reply_to"] = str(self.reply_to)
        if self.mentioned:
            more["mentions"] = [f"user:{person.code}" for person in self.mentioned]
        plan.add_entry(
            "review.commented",
            actor=self.person.actor,
            payload={
                "review": self.review_code,
                "text": self.text,
                "comment": str(comment.code),
                **more,
            },
        )
        plan.rows.append(comment)
        plan.rows += [
            Mention(
                review_id=self.review.pk, comment_id=comment.code, person_id=person.pk
            )
            for person in self.mentioned
        ]
        waiting = Review.objects.filter(
            pk=self.review.pk, snoozed_for=SnoozedFor.COMMENT
        )
        plan.side_updates.append(partial(waiting.update, **BACK))
        return plan.change()


def find_thread(review: Review, code: str) -> UUID:
    """The comment with which a thread begins: an answer to an answer stands in the same."""
    known = parse_code(code)
    found = Comment.objects.filter(review=review, code=known).first() if known else None
    if found is None:
        raise Invalid(
            "The comment that this answers is not one of this review.",
            errors=[{"loc": ["reply_to"], "message": "no comment of this review"}],
        )
    root: UUID = found.reply_to_id or found.code
    return root


def list_mentioned_names(text: str) -> set[str]:
    """What stands behind an @; whether there are such people is not known here."""
    return {found.rstrip(".+-") for found in _MENTION.findall(text)}


def list_mentioned(review: Review, text: str, *, author_id: int) -> list[User]:
    """The people of the project whom a text names as @name, but for its author."""
    names = list_mentioned_names(text)
    if not names:
        return []
    people = User.objects.filter(
        membership__project_id=review.project_id, username__in=names, is_active=True
    )
    return list(people.exclude(pk=author_id).order_by("username"))


def list_unseen_mentions(review_ids: Iterable[int]) -> dict[int, list[str]]:
    """The codes of people who have not looked since they were mentioned, by review."""
    rows = Mention.objects.filter(
        review_id__in=list(review_ids), seen_at__isnull=True
    ).values_list("review_id", "person__code")
    found: dict[int, list[str]] = {}
    for review_id, code in rows.distinct():
        found.setdefault(review_id, []).append(str(code))
    return found


def store_seen_mentions(*, user_id: int, review: UUID) -> None:
    """This person looks at the review now."""
    unseen = Mention.objects.filter(
        review__code=review, person_id=user_id, seen_at__isnull=True
    )
    if keys := list(unseen.values_list("pk", flat=True)):
        Mention.objects.filter(pk__in=keys).update(seen_at=timezone.now())
