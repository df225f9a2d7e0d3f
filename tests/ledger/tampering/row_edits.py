"""Rows of a project that somebody changes past the server: what is done, and what is said.

`E` names a row by what honest people did with it (tests.ledger.tampering.honest).
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from django.contrib.auth.hashers import make_password

from accounts.models import (
    Agent,
    AgentKey,
    Invitation,
    Membership,
    PersonalToken,
    Project,
    Role,
    User,
)
from guidance.models import Policy, PolicyAssignment, PolicyVersion
from ledger.models import Halt, Run, SharedUse
from reviews.models import HeldRuling, Review
from tests.ledger.tampering.honest import Life
from tests.support.builders import unique

Edit = Callable[[Life], object]
FAR = datetime(2100, 1, 1, tzinfo=UTC)


def copy(row: AgentKey | PersonalToken, **more: object) -> object:
    """The same row once more, under another name."""
    row.pk = None
    for name, value in {"digest": unique("d"), **more}.items():
        setattr(row, name, value)
    row.code = User._meta.get_field("code").get_default()
    row.save(force_insert=True)
    return row


def places(life: Life) -> object:
    return Membership.objects.filter(project=life.project)


def role(life: Life, person: User):  # type: ignore[no-untyped-def]
    return Membership.objects.filter(project=life.project, user=person)


def robo(life: Life):  # type: ignore[no-untyped-def]
    return Agent.objects.filter(project=life.project, name="robo")


def keys(life: Life, **more: object):  # type: ignore[no-untyped-def]
    found = AgentKey.objects.filter(agent__in=robo(life), **more)
    return AgentKey.objects.filter(pk=found.earliest("pk").pk)


def used(life: Life, **more: object):  # type: ignore[no-untyped-def]
    return SharedUse.objects.filter(owner=life.project.pk, scope="project", **more)


def tokens(life: Life, **more: object):  # type: ignore[no-untyped-def]
    return PersonalToken.objects.filter(user=life.max.user, **more)


def runs(life: Life):  # type: ignore[no-untyped-def]
    return Run.objects.filter(code=life.runs[0])


def held(life: Life):  # type: ignore[no-untyped-def]
    return HeldRuling.objects.filter(review__code=life.held)


def invited(life: Life):  # type: ignore[no-untyped-def]
    return Invitation.objects.filter(
        project=life.project, accepted_at=None, withdrawn_at=None
    )


def project(life: Life):  # type: ignore[no-untyped-def]
    return Project.objects.filter(pk=life.project.pk)


EDITS: dict[str, tuple[Edit, str]] = {
    "an auditor became an admin": (
        lambda life: role(life, life.aud.user).update(role=Role.ADMIN),
        'has role "admin", the chain says "auditor"',
    ),
    "a stranger was let in": (
        lambda life: Membership.objects.create(
            project=life.project,
            user=User.objects.create(username=unique("mallory")),
            role=Role.AUDITOR,
        ),
        "the person {row.user.code} is stored, and no entry tells of it",
    ),
    "somebody was taken out": (
        lambda life: role(life, life.aud.user).delete(),
        "the person {life.aud.user.code} is missing",
    ),
    "somebody got another name": (
        lambda life: User.objects.filter(pk=life.aud.user.pk).update(
            username=unique("x")
        ),
        "the person {life.aud.user.code} has name",
    ),
    "a password was replaced": (
        lambda life: User.objects.filter(pk=life.ada.user.pk).update(
            password=make_password("mine")
        ),
        "the password {life.ada.user.code} has password",
    ),
    "a one-time password need not be changed": (
        lambda life: User.objects.filter(pk=life.ada.user.pk).update(
            must_change_password=False
        ),
        "the password {life.ada.user.code} has must_change false",
    ),
    "a revoked token works again": (
        lambda life: tokens(life, name="laptop").update(revoked_at=None),
        "has revoked false, the chain says true",
    ),
    "a token that a new password ended works again": (
        lambda life: PersonalToken.objects.filter(
            pk=PersonalToken.objects.filter(user=life.rex.user).earliest("pk").pk
        ).update(revoked_at=None),
        "has revoked false, the chain says true",
    ),
    "a token was made": (
        lambda life: copy(tokens(life, name="terminal").get()),
        "the token {row.code} is stored, and no entry tells of it",
    ),
    "a token opens for another secret": (
        lambda life: tokens(life, name="terminal").update(digest="0" * 64),
        "has secret",
    ),
    "a token lives longer": (
        lambda life: tokens(life, name="terminal").update(expires_at=FAR),
        "has expires_at",
    ),
    "a token is somebody else's": (
        lambda life: tokens(life, name="terminal").update(user=life.ada.user),
        "has person",
    ),
    "an invitation is for another role": (
        lambda life: invited(life).update(role=Role.ADMIN),
        'has role "admin", the chain says "reviewer"',
    ),
    "an invitation opens by another link": (
        lambda life: invited(life).update(digest="0" * 64),
        "has secret",
    ),
    "an invitation stays open": (
        lambda life: invited(life).update(expires_at=FAR),
        "has expires_at",
    ),
    "an invitation was deleted": (
        lambda life: invited(life).delete(),
        "the invitation",
    ),
    "a revoked key works again": (
        lambda life: keys(life, name="ci").update(revoked_at=None),
        "has revoked false, the chain says true",
    ),
    "a key opens for another secret": (
        lambda life: keys(life, name="night").update(digest="0" * 64),
        "has secret",
    ),
    "a key may do more": (
        lambda life: keys(life, name="night").update(scopes="runs:write evaluate"),
        "has scopes",
    ),
    "a key lives longer": (
        lambda life: keys(life, name="night").update(expires_at=FAR),
        "has expires_at",
    ),
    "a key is another agent's": (
        lambda life: keys(life, name="night").update(
            agent=Agent.objects.get(project=life.project, name="other")
        ),
        "has agent",
    ),
    "a key was made": (
        lambda life: copy(keys(life, name="night").get()),
        "the key {row.code} is stored, and no entry tells of it",
    ),
    "a key was deleted": (
        lambda life: keys(life, name="night").delete(),
        "is missing",
    ),
    "an agent has another owner": (
        lambda life: robo(life).update(owner=life.ada.user),
        "has owner",
    ),
    "an agent has no owner": (lambda life: robo(life).update(owner=None), "has owner"),
    "an agent's limits are gone": (
        lambda life: robo(life).update(
            tokens_limit=None, tool_calls_limit=None, cost_micros_limit=None
        ),
        "has limits null",
    ),
    "an agent was disabled": (
        lambda life: robo(life).update(disabled_at=FAR),
        "has disabled true, the chain says false",
    ),
    "an agent was made": (
        lambda life: Agent.objects.create(project=life.project, name="mole"),
        "the agent {row.code} is stored, and no entry tells of it",
    ),
    "another policy is the default": (
        lambda life: project(life).update(default_policy="default"),
        'has default_policy "default", the chain says "strict"',
    ),
    "agents may choose their policy": (
        lambda life: project(life).update(agents_choose_policy=True),
        "whether agents choose their policy",
    ),
    "an assignment was added": (
        lambda life: PolicyAssignment.objects.create(
            project=life.project,
            policy=Policy.objects.get(project=life.project, name="default"),
            position=7,
            agent="robo",
        ),
        "the assignments of policies are not those",
    ),
    "the assignments were deleted": (
        lambda life: PolicyAssignment.objects.filter(project=life.project).delete(),
        "the assignments of policies are not those",
    ),
    "the document of a policy": (
        lambda life: PolicyVersion.objects.filter(
            project=life.project, name="strict"
        ).update(document="{}"),
        "has a document that does not fit its hash",
    ),
    "the day begins anew for the project": (
        lambda life: used(life).update(tokens=0, tool_calls=0, cost_micros=0),
        "the project used 0 of tokens in",
    ),
    "the day begins anew for an agent": (
        lambda life: SharedUse.objects.filter(
            scope="agent", owner__in=robo(life).values("pk")
        ).update(tool_calls=0),
        "the agent robo used 0 of tool_calls in",
    ),
    "nothing was used below a run": (
        lambda life: SharedUse.objects.filter(
            scope="run", owner__in=runs(life).values("pk")
        ).delete(),
        "all runs below the run {life.runs[0]} used 0 of tokens, the chains say",
    ),
    "more was given on top of a limit": (
        lambda life: used(life, tokens_extra=500).update(tokens_extra=10**9),
        "was given on top of the limits of project",
    ),
    "a ruling is held that nobody gave": (
        lambda life: HeldRuling.objects.create(
            review=Review.objects.get(code=life.held),
            by=life.ada.user,
            action="approve",
            said="{}",
            held_at=FAR,
            due_at=FAR,
        ),
        "the held ruling {life.held} {row.by.code} is stored, and no entry tells",
    ),
    "another choice is held": (
        lambda life: held(life).update(action="deny"),
        "has sealed",
    ),
    "a held ruling says something else": (
        lambda life: held(life).update(said="{}"),
        "has sealed",
    ),
    "a ruling is held for ever": (
        lambda life: held(life).update(due_at=FAR),
        "has due_at",
    ),
    "a held ruling is gone": (
        lambda life: held(life).delete(),
        "the held ruling {life.held} {life.max.user.code} is missing",
    ),
    "a run's task": (
        lambda life: runs(life).update(task="x"),
        "the run's task is x, the chain says",
    ),
    "a run has used less": (
        lambda life: runs(life).update(tokens_used=0),
        "the run's tokens_used is 0, the chain says",
    ),
    "a run remembers nothing": (
        lambda life: runs(life).update(memory="{}"),
        "the run's memory is",
    ),
    "a halt was released": (
        lambda life: Halt.objects.filter(project=life.project).update(
            released_at=FAR, released_by=life.ada.user
        ),
        "differs from the chain in: released_by, released_at",
    ),
}
