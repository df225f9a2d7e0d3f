"""Change what somebody may do in a project, and let them go."""

from __future__ import annotations

from datetime import datetime

from accounts.auth import PersonPrincipal
from accounts.models import Agent, Membership, PersonalToken, Role, SignIn
from accounts.people.sign_ins import end_sign_ins
from accounts.services import revoke_tokens
from common.errors import Invalid, Unchanged
from reviews.administration.chain import (
    AuditEntry,
    PreparedChange,
    build_difference,
    perform_change,
)
from reviews.administration.described_rows import describe_user
from reviews.administration.people.selectors import (
    get_membership,
    is_last_admin,
    list_owned_agents,
)

LAST_ADMIN = "You are the last admin: give somebody else the role admin first."


def change_role(*, project_id: int, code: str, role: Role, by: PersonPrincipal) -> None:
    get_membership(project_id=project_id, code=code)  # no chain for nobody

    def prepare() -> PreparedChange[None]:
        membership = get_membership(project_id=project_id, code=code)
        if membership.role == role:
            raise Unchanged(f"{membership.user} is {role.value} already.")
        _refuse_last_admin(membership, loc=["role"])
        changed = build_difference({"role": membership.role}, {"role": role.value})
        payload = {**describe_user(membership.user), **changed}
        return PreparedChange(
            entries=[AuditEntry("person.changed", payload)],
            store=lambda at: _store_role(membership, role),
        )

    perform_change(project_id=project_id, by=by, prepare=prepare)


def remove_person(*, project_id: int, code: str, by: PersonPrincipal) -> None:
    """Their agents have no owner then. With their last project, their sign-ins and
    tokens end; in other projects they stay who they are."""
    get_membership(project_id=project_id, code=code)  # no chain for nobody

    def prepare() -> PreparedChange[None]:
        membership = get_membership(project_id=project_id, code=code)
        _refuse_last_admin(membership, loc=[])
        payload = {
            **describe_user(membership.user),
            "role": membership.role,
            "agents": list_owned_agents(
                project_id=project_id, user_id=membership.user_id
            ),
        }
        return PreparedChange(
            entries=[AuditEntry("person.removed", payload)],
            store=lambda at: _store_removal(membership, at),
        )

    perform_change(project_id=project_id, by=by, prepare=prepare)


def _store_role(membership: Membership, role: Role) -> None:
    Membership.objects.filter(pk=membership.pk).update(role=role)


def _store_removal(membership: Membership, at: datetime) -> None:
    user, project_id = membership.user, membership.project_id
    Agent.objects.filter(project_id=project_id, owner=user).update(owner=None)
    Membership.objects.filter(pk=membership.pk).delete()
    if not Membership.objects.filter(user=user).exists():
        revoke_tokens(PersonalToken.objects.filter(user=user))
        end_sign_ins(SignIn.objects.filter(user=user))


def _refuse_last_admin(membership: Membership, *, loc: list[str]) -> None:
    """Whoever may change roles is an admin: the last one can only mean themselves."""
    if is_last_admin(membership):
        raise Invalid(LAST_ADMIN, errors=[{"loc": loc, "message": LAST_ADMIN}])
