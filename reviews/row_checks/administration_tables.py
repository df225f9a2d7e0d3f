"""People, agents and keys as they are stored, in the words that the entries have for them."""

from __future__ import annotations

from accounts.models import (
    SYSTEM_AGENTS,
    Agent,
    AgentKey,
    Invitation,
    Membership,
    PersonalToken,
    Project,
)
from accounts.secrets import build_mark
from guidance.core.runs.usage import Budget
from reviews.policies.limits.serializers import serialize_limits
from reviews.row_checks.stored import Table, Values, build_person_reader, keep_same


def _read_password(values: Values) -> None:
    values["password"] = build_mark(values["password"])


def _read_secret(values: Values) -> None:
    values["secret"] = build_mark(values["secret"])
    if "revoked" in values:
        values["revoked"] = values["revoked"] is not None


def _read_key(values: Values) -> None:
    build_person_reader("made_by")(values)
    values["scopes"] = values["scopes"].split()
    _read_secret(values)


def _read_invitation(values: Values) -> None:
    build_person_reader("invited_by")(values)
    _read_secret(values)


def _read_agent(values: Values) -> None:
    parts = ("tokens", "tool_calls", "cost_micros")
    limits = {part: values.pop(f"{part}_limit") for part in parts}
    values["limits"] = serialize_limits(Budget(time_ms=None, **limits))
    values["disabled"] = values["disabled"] is not None


TABLES = (
    Table(
        "project",
        Project.objects.all(),
        "pk",
        ("pk",),
        keep_same("name", "slug", "default_policy", "retention_days"),
    ),
    Table(
        "person",
        Membership.objects.all(),
        "project_id",
        ("user__code",),
        {"role": "role", "name": "user__username"},
    ),
    Table(
        "agent",
        Agent.objects.exclude(name__in=SYSTEM_AGENTS),
        "project_id",
        ("code",),
        keep_same(
            *("name", "description"),
            *("tokens_limit", "tool_calls_limit", "cost_micros_limit"),
            owner="owner__username",
            disabled="disabled_at",
        ),
        _read_agent,
    ),
    Table(
        "key",
        AgentKey.objects.all(),
        "agent__project_id",
        ("code",),
        keep_same(
            *("name", "scopes", "expires_at"),
            agent="agent__code",
            prefix="lookup",
            secret="digest",  # noqa: S106
            revoked="revoked_at",
            made_by="created_by__code",
        ),
        _read_key,
    ),
    Table(
        "invitation",
        Invitation.objects.filter(accepted_at=None, withdrawn_at=None),
        "project_id",
        ("code",),
        {
            "name": "email",
            "role": "role",
            "secret": "digest",
            "invited_by": "invited_by__code",
            "expires_at": "expires_at",
        },
        _read_invitation,
    ),
)
# What opens every project of a person: each of their chains tells of it, one after another.
OWN_TABLES = (
    Table(
        "password",
        Membership.objects.all(),
        "project_id",
        ("user__code",),
        {"password": "user__password", "must_change": "user__must_change_password"},
        _read_password,
    ),
    Table(
        "token",
        PersonalToken.objects.all(),
        "user__membership__project_id",
        ("code",),
        {
            "person": "user__code",
            "prefix": "lookup",
            "secret": "digest",
            "expires_at": "expires_at",
            "revoked": "revoked_at",
        },
        _read_secret,
        may_be_untold=lambda values: bool(values["revoked"]),
    ),
)
