"""A person whom a command adds, or gives a role and a new one-time password."""

from __future__ import annotations

from dataclasses import dataclass

from accounts.models import Membership, PersonalToken, Role, User
from accounts.selectors import list_projects
from accounts.services import NewPerson, NewToken, create_password
from accounts.services import add_person as store_person
from reviews.administration.chain import (
    AuditEntry,
    PreparedChange,
    build_difference,
    perform_change,
)
from reviews.administration.described_rows import (
    describe_account,
    describe_password,
    describe_user,
)
from reviews.administration.own.tokens import (
    build_made_entry,
    build_revoked_entries,
)
from reviews.administration.project.services import ensure_project


@dataclass(frozen=True, slots=True, kw_only=True)
class _Added:
    """`own` concerns the person in every project, and is told by the chain of each."""

    person: NewPerson
    own: list[AuditEntry]


def add_person(*, name: str, role: Role, project_slug: str) -> NewPerson:
    """Makes project and person if absent. Whoever exists keeps their account; what they
    signed in with before ends, in all their projects."""
    project = ensure_project(slug=project_slug)
    password = create_password()  # not while the project is locked

    def prepare() -> PreparedChange[_Added]:
        token = NewToken()
        user = User.objects.filter(username=name).first()
        known = user is not None
        user = user or User(username=name)
        member = Membership.objects.filter(project=project, user_id=user.pk).first()
        own = []
        if known:
            valid = PersonalToken.objects.filter(user=user)
            own += build_revoked_entries(user, valid)
        given = User(
            code=user.code,
            username=name,
            password=password.hash,
            must_change_password=True,
        )
        if known:
            payload = describe_password(given, must_change=True)
            own.append(AuditEntry("person.password_given", payload))
        own.append(build_made_entry(user, token))

        def store(_at: object) -> _Added:
            person = store_person(
                name=name,
                role=role,
                project_slug=project_slug,
                code=user.code,
                password=password,
                token=token,
            )
            return _Added(person=person, own=own)

        return PreparedChange(
            entries=[*_build_place(user if known else given, member, role), *own],
            store=store,
        )

    added = perform_change(project_id=project.pk, by=None, prepare=prepare)
    others = list_projects(user_id=added.person.user.pk).exclude(pk=project.pk)
    for project_id in others.values_list("pk", flat=True):
        perform_change(
            project_id=project_id,
            by=None,
            prepare=lambda: PreparedChange(entries=added.own, store=lambda _at: None),
        )
    return added.person


def _build_place(user: User, member: Membership | None, role: Role) -> list[AuditEntry]:
    """What changes about their place in the project, if anything does."""
    if member is None:
        joined = {**describe_account(user), "role": role.value}
        return [AuditEntry("person.joined", joined)]
    about = describe_user(user)
    changed = build_difference({"role": member.role}, {"role": role.value})
    return [AuditEntry("person.changed", {**about, **changed})] if changed else []
