"""What a person is to be told of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef, Q

from accounts.models import Membership, Role, User
from notifications.models import Notice, Occasion, Recipient
from reviews.models import Review, ReviewState, Severity

# Somebody at their desk may have ruled by then. What is critical does not wait.
GRACE = timedelta(seconds=60)
# Before a review ends without a ruling, but never before half of its time has passed.
REMIND = timedelta(minutes=30)
# Of one person at a time: the rest is counted in the mail, and told of by the next one.
LIMIT = 500
# The worst is 0.
_RANKS = {severity: rank for rank, severity in enumerate(Severity.values)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    review: Review
    occasion: Occasion


def list_people() -> Iterator[User]:
    """Who may rule somewhere and has an address, with what they chose."""
    may_rule = [role for role in Role if role.includes(Role.REVIEWER)]
    members = Membership.objects.filter(user=OuterRef("pk"), role__in=may_rule)
    people = User.objects.filter(Exists(members), is_active=True).exclude(email="")
    yield from people.select_related("recipient").order_by("pk")


def get_mail_from(user: User) -> str:
    recipient: Recipient | None = getattr(user, "recipient", None)
    return Severity.HIGH if recipient is None else recipient.mail_from


def list_severities(least: str) -> list[str]:
    """This one and the worse ones."""
    if not least:
        return []
    return [each for each in _RANKS if _RANKS[each] <= _RANKS[least]]


def list_untold(user: User, *, at: datetime) -> list[Told]:
    """Open reviews of the person's projects, unless somebody else has claimed them. What
    ends soon is told of once more."""
    severities = list_severities(get_mail_from(user))
    if not severities:
        return []
    may_rule = [role for role in Role if role.includes(Role.REVIEWER)]
    own = Membership.objects.filter(user=user, role__in=may_rule)
    waiting = (
        Review.objects.filter(
            Q(assignee=None) | Q(assignee=user),
            project_id__in=own.values("project_id"),
            state=ReviewState.OPEN,
            severity__in=severities,
        )
        .select_related("run__agent", "project")
        .order_by("urgency", "answer_by", "pk")
    )
    fresh = waiting.filter(
        Q(opened_at__lte=at - GRACE) | Q(severity=Severity.CRITICAL),
        ~_is_told(user, Occasion.OPENED),
    )
    ending = waiting.filter(
        ~_is_told(user, Occasion.ENDS_SOON), due_at__lte=at + REMIND, due_at__gt=at
    )
    return [
        *_build_told(fresh[:LIMIT], Occasion.OPENED),
        *_build_told(
            (each for each in ending[:LIMIT] if _is_half_over(each, at)),
            Occasion.ENDS_SOON,
        ),
    ]


def _is_told(user: User, occasion: Occasion) -> Exists:
    notices = Notice.objects.filter(review=OuterRef("pk"), user=user, occasion=occasion)
    return Exists(notices)


def _is_half_over(review: Review, at: datetime) -> bool:
    return at - review.opened_at >= review.due_at - at


def _build_told(reviews: Iterable[Review], occasion: Occasion) -> list[Told]:
    return [Told(review=review, occasion=occasion) for review in reviews]
