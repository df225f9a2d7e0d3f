"""Change a project, and make another one."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from accounts import services as accounts_services
from accounts.auth import PersonPrincipal
from accounts.models import Membership, Project, Role, User
from common.errors import Forbidden, Invalid, Unchanged
from guidance.selectors import load_policy_choice
from guidance.services import DEFAULT, get_policy_in_force
from reviews.administration.chain import (
    AuditEntry,
    PreparedChange,
    build_difference,
    perform_change,
)
from reviews.administration.described_rows import describe_account
from reviews.policies.assignments import replace_assignments

CHOOSE = "agents_choose_policy"
FIELDS = ("name", "default_policy", CHOOSE, "retention_days")


def change_project(
    *, project_id: int, by: PersonPrincipal, wanted: dict[str, Any]
) -> Project:
    """`wanted` has some of FIELDS; what it leaves out stays as it is.

    Whether agents choose their policy is an act on the project's policies, and stands in
    their chain: it comes last, when nothing of the rest was refused.
    """
    get_policy_in_force(project_id=project_id, name=DEFAULT)  # made where it is missing
    own = {name: value for name, value in wanted.items() if name != CHOOSE}
    choose = wanted.get(CHOOSE)
    before = Project.objects.get(pk=project_id).agents_choose_policy
    if choose is None or choose == before:
        return _change_own(project_id, by, own)
    with suppress(Unchanged):
        _change_own(project_id, by, own)
    replace_assignments(project_id=project_id, by=by, agents_choose=choose)
    return Project.objects.get(pk=project_id)


def _change_own(
    project_id: int, by: PersonPrincipal, wanted: dict[str, Any]
) -> Project:
    """What the administration's chain tells of."""

    def prepare() -> PreparedChange[Project]:
        project = Project.objects.get(pk=project_id)
        _refuse_unknown_policy(project_id, wanted.get("default_policy"))
        before = {name: getattr(project, name) for name in wanted}
        difference = build_difference(before, wanted)
        if not difference:
            raise Unchanged("All of this holds already: nothing would change.")

        def store(at: datetime) -> Project:
            for name, value in wanted.items():
                setattr(project, name, value)
            project.save(update_fields=list(wanted))
            return project

        return PreparedChange(
            entries=[AuditEntry("project.changed", difference)], store=store
        )

    return perform_change(project_id=project_id, by=by, prepare=prepare)


def _refuse_unknown_policy(project_id: int, name: str | None) -> None:
    known = load_policy_choice(project_id=project_id).active
    if name is not None and name not in known:
        message = f"no policy of this name is in force; one of: {', '.join(known)}"
        raise Invalid(
            "The project has no such policy.",
            errors=[{"loc": ["default_policy"], "message": message}],
        )


def ensure_project(*, slug: str) -> Project:
    """For a command: the project of this short name, made if it is absent."""
    known = Project.objects.filter(slug=slug).first()
    if known is not None:
        return known
    project = accounts_services.ensure_project(slug=slug)
    payload = {"name": project.name, "slug": slug}
    entry = AuditEntry("project.created", payload)
    perform_change(
        project_id=project.pk,
        by=None,
        prepare=lambda: PreparedChange(entries=[entry], store=lambda _at: None),
    )
    return project


def create_project(*, by: PersonPrincipal, name: str, slug: str) -> Project:
    """Admins of any project may; whoever makes it is its admin."""
    if not Membership.objects.filter(user_id=by.user_id, role=Role.ADMIN).exists():
        raise Forbidden("Only an admin of some project may make another one.")
    # Nobody is in it yet, so that nobody sees it before its first entry is written.
    try:
        with transaction.atomic():
            project = Project.objects.create(slug=slug, name=name)
    except IntegrityError:
        message = "Another project has this short name already."
        errors = [{"loc": ["slug"], "message": message}]
        raise Invalid(message, errors=errors) from None

    def store(at: datetime) -> None:
        Membership.objects.create(project=project, user_id=by.user_id, role=Role.ADMIN)

    def prepare() -> PreparedChange[None]:
        admin = describe_account(User.objects.get(pk=by.user_id))
        payload = {"name": name, "slug": slug, "admin": admin}
        entry = AuditEntry("project.created", payload)
        return PreparedChange(entries=[entry], store=store)

    perform_change(project_id=project.pk, by=by, prepare=prepare)
    return project
