"""Comments of a review as threads: each with the answers to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from accounts.models import User
from console.format import format_ago, format_iso
from console.people import Person, build_person
from reviews.models import Comment, Review
from reviews.teamwork.comments import list_mentioned_names
from safetext import make_visible


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownComment:
    """`mentions_you` says that it names the viewer."""

    code: str
    by: Person
    text: str
    at: str
    ago: str
    mentions_you: bool
    replies: list[ShownComment] = field(default_factory=list)


def list_threads(review: Review, *, viewer: User, at: datetime) -> list[ShownComment]:
    """Oldest first. A name in the text counts, whoever has looked at it since."""
    comments = list(review.comments.select_related("author").order_by("pk"))
    shown: dict[UUID, ShownComment] = {
        comment.code: _build(comment, viewer=viewer, at=at) for comment in comments
    }
    threads = []
    for comment in comments:
        if comment.reply_to_id is None:
            threads.append(shown[comment.code])
        else:
            shown[comment.reply_to_id].replies.append(shown[comment.code])
    return threads


def _build(comment: Comment, *, viewer: User, at: datetime) -> ShownComment:
    named = viewer.username in list_mentioned_names(comment.text)
    return ShownComment(
        code=str(comment.code),
        by=build_person(comment.author),
        text=make_visible(comment.text),
        at=format_iso(comment.at),
        ago=format_ago((at - comment.at).total_seconds()),
        mentions_you=named and comment.author_id != viewer.pk,
    )
