"""Managers are told that the queue of their project is full, or nearly so."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db.models import Count
from django.utils import timezone

from accounts.models import Membership, Project, Role, User
from notifications.models import QueueLevel, QueueNotice
from notifications.selectors import get_mail_from
from notifications.services import send_to
from notifications.texts import build_queue_subject, build_queue_text
from reviews.models import Review, ReviewState
from reviews.queue.floods import Crowd, read_filling

# While it stays so; and after a mail server that took nothing.
AGAIN = timedelta(days=1)
RETRY = timedelta(minutes=5)


def send_queue_mails(*, at: datetime | None = None) -> int:
    """Send what is due; return how many were handed to the mail server."""
    moment = at or timezone.now()
    crowds = dict(_list_crowds())
    QueueNotice.objects.exclude(project__in=crowds).delete()
    return sum(
        _tell(user, project, crowd, at=moment)
        for project, crowd in crowds.items()
        for user in _list_managers(project)
    )


def _list_crowds() -> Iterator[tuple[Project, Crowd]]:
    waiting = Review.objects.filter(state=ReviewState.OPEN).order_by("project_id")
    counted = waiting.values_list("project_id").annotate(count=Count("pk"))
    for project_id, total in counted:
        crowd = read_filling(project_id=project_id, total=total).crowd
        if crowd is not None:
            yield Project.objects.get(pk=project_id), crowd


def _list_managers(project: Project) -> list[User]:
    """List those who have an address and did not choose never to get mail."""
    roles = [role for role in Role if role.includes(Role.MANAGER)]
    members = Membership.objects.filter(project=project, role__in=roles)
    people = User.objects.filter(pk__in=members.values("user_id"), is_active=True)
    known = people.exclude(email="").select_related("recipient").order_by("pk")
    return [user for user in known if get_mail_from(user)]


def _tell(user: User, project: Project, crowd: Crowd, *, at: datetime) -> bool:
    level = QueueLevel.FULL if crowd.refuses else QueueLevel.NEAR
    notice, is_new = QueueNotice.objects.get_or_create(
        project=project, user=user, level=level, defaults={"tried_at": at}
    )
    if not is_new and not _take_turn(notice, at=at):
        return False
    sent = send_to(
        user,
        subject=build_queue_subject(crowd, project),
        text=build_queue_text(crowd, project),
        at=at,
    )
    if sent:
        QueueNotice.objects.filter(pk=notice.pk).update(sent_at=at)
    return sent


def _take_turn(notice: QueueNotice, *, at: datetime) -> bool:
    """Compare and set: of two workers one sends."""
    waited = at - (notice.sent_at or notice.tried_at)
    if waited < (AGAIN if notice.sent_at else RETRY) or at - notice.tried_at < RETRY:
        return False
    turn = QueueNotice.objects.filter(pk=notice.pk, tried_at=notice.tried_at)
    return turn.update(tried_at=at) == 1
