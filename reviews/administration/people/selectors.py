"""Read who is in a project, and who is asked to come."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Max
from django.utils import timezone

from accounts.models import Agent, Invitation, Membership, Role, SignIn, User
from common.errors import NotFound
from common.ids import parse_code
from reviews.models import Ruling

RULINGS_DAYS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A person with their role, and what they did of late."""

    user: User
    role: Role
    joined_at: datetime
    last_seen_at: datetime | None
    rulings: int


def list_members(*, project_id: int, only: int | None = None) -> list[Member]:
    """Everybody by name, or the one person with the id `only`; three queries for all."""
    memberships = Membership.objects.select_related("user").filter(
        project_id=project_id
    )
    if only is not None:
        memberships = memberships.filter(user_id=only)
    found = list(memberships.order_by("user__username"))
    people = [membership.user_id for membership in found]
    seen = dict(
        SignIn.objects.filter(user_id__in=people)
        .values_list("user_id")
        .annotate(last=Max("last_seen_at"))
    )
    rulings = dict(
        Ruling.objects.filter(
            by_id__in=people,
            review__project_id=project_id,
            at__gte=timezone.now() - timedelta(days=RULINGS_DAYS),
        )
        .values_list("by_id")
        .annotate(number=Count("pk"))
    )
    return [
        Member(
            user=membership.user,
            role=Role(membership.role),
            joined_at=membership.created_at,
            last_seen_at=seen.get(membership.user_id) or membership.user.last_login,
            rulings=rulings.get(membership.user_id, 0),
        )
        for membership in found
    ]


def get_membership(*, project_id: int, code: str) -> Membership:
    """The membership of the person with this code; somebody else is not there."""
    known = parse_code(code)
    found = (
        Membership.objects.select_related("user", "project")
        .filter(project_id=project_id, user__code=known)
        .first()
        if known is not None
        else None
    )
    if found is None:
        raise NotFound
    return found


def list_invitations(*, project_id: int) -> list[Invitation]:
    """Those that nobody has accepted or withdrawn, newest first, also expired ones."""
    rows = Invitation.objects.select_related("invited_by").filter(
        project_id=project_id, accepted_at=None, withdrawn_at=None
    )
    return list(rows.order_by("-pk"))


def get_invitation(*, project_id: int, code: str) -> Invitation:
    known = parse_code(code)
    for invitation in list_invitations(project_id=project_id):
        if invitation.code == known:
            return invitation
    raise NotFound


def list_owned_agents(*, project_id: int, user_id: int) -> list[str]:
    """The names of the agents that this person answers for."""
    agents = Agent.objects.filter(project_id=project_id, owner_id=user_id)
    return list(agents.order_by("name").values_list("name", flat=True))


def is_last_admin(membership: Membership) -> bool:
    """Whether nobody else could give anybody a role."""
    if membership.role != Role.ADMIN:
        return False
    others = Membership.objects.filter(
        project_id=membership.project_id, role=Role.ADMIN, user__is_active=True
    )
    return not others.exclude(user_id=membership.user_id).exists()
