"""Rows of people, agents and keys as the entries of a project's administration tell them.

No entry holds a secret: of a digest or a password's hash it has a mark, which is another one
as soon as the row has another secret.
"""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from accounts.models import (
    Agent,
    AgentKey,
    Invitation,
    Membership,
    PersonalToken,
    Project,
    User,
)
from accounts.secrets import build_mark
from accounts.selectors import list_agents
from ledger.chain import format_timestamp
from reviews.policies.limits.selectors import get_own_limits
from reviews.policies.limits.serializers import serialize_limits

# Of `settings.recorded`: since this one it tells of all that is compared with the rows.
RECORD_VERSION = 2


def describe_user(user: User) -> dict[str, str]:
    """A person as entries name them."""
    return {"person": str(user.code), "name": user.username}


def describe_password(user: User, *, must_change: bool) -> dict[str, Any]:
    """A person and the password that they have from now on."""
    return {
        **describe_user(user),
        "password": build_mark(user.password),
        "must_change": must_change,
    }


def describe_account(user: User) -> dict[str, Any]:
    """Describe somebody who is new to a project, with all that lets them in."""
    tokens = PersonalToken.objects.filter(user_id=user.pk or 0, revoked_at=None)
    return {
        **describe_password(user, must_change=user.must_change_password),
        "tokens": describe_tokens(tokens),
    }


def describe_tokens(rows: QuerySet[PersonalToken]) -> list[dict[str, Any]]:
    return [
        {
            "person": str(token.user.code),
            "token": str(token.code),
            "prefix": token.lookup,
            "secret": build_mark(token.digest),
            "expires_at": token.expires_at and format_timestamp(token.expires_at),
        }
        for token in rows.select_related("user").order_by("pk")
    ]


def describe_agent(agent: Agent) -> dict[str, Any]:
    return {
        "agent": str(agent.code),
        "name": agent.name,
        "owner": agent.owner.username if agent.owner else None,
        "description": agent.description,
    }


def describe_key(key: AgentKey, agent: Agent) -> dict[str, Any]:
    return {
        "agent": str(agent.code),
        "name": agent.name,
        "key": str(key.code),
        "key_name": key.name,
        "prefix": key.lookup,
    }


def describe_new_key(key: AgentKey, agent: Agent) -> dict[str, Any]:
    return {
        **describe_key(key, agent),
        "scopes": key.scopes.split(),
        "expires_at": format_timestamp(key.expires_at) if key.expires_at else None,
        "secret": build_mark(key.digest),
    }


def describe_invitation(invitation: Invitation) -> dict[str, str]:
    return {
        "invitation": str(invitation.code),
        "name": invitation.email,
        "role": invitation.role,
    }


def build_record(project_id: int) -> dict[str, Any]:
    """Who and what is there now, for a chain that does not know."""
    project = Project.objects.get(pk=project_id)
    places = Membership.objects.select_related("user").filter(project=project)
    keys = AgentKey.objects.select_related("agent", "created_by")
    invitations = Invitation.objects.select_related("invited_by").filter(
        project=project, accepted_at=None, withdrawn_at=None
    )
    return {
        "version": RECORD_VERSION,
        "project": {
            "name": project.name,
            "slug": project.slug,
            "default_policy": project.default_policy,
            "retention_days": project.retention_days,
        },
        "people": [
            {
                **describe_password(
                    place.user, must_change=place.user.must_change_password
                ),
                "role": place.role,
            }
            for place in places.order_by("pk")
        ],
        "tokens": describe_tokens(
            PersonalToken.objects.filter(
                user__membership__project=project, revoked_at=None
            )
        ),
        "agents": [
            {
                **describe_agent(agent),
                "limits": serialize_limits(get_own_limits(agent)),
                "disabled": agent.disabled_at is not None,
            }
            for agent in list_agents(project_id=project_id)
        ],
        "keys": [
            {
                **describe_new_key(key, key.agent),
                "made_by": key.created_by and f"user:{key.created_by.code}",
                "revoked": key.revoked_at is not None,
            }
            for key in keys.filter(agent__project=project).order_by("pk")
        ],
        "invitations": [
            {
                **describe_invitation(each),
                "secret": build_mark(each.digest),
                "invited_by": f"user:{each.invited_by.code}",
                "expires_at": format_timestamp(each.expires_at),
            }
            for each in invitations.order_by("pk")
        ],
    }
