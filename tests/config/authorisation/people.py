"""Targets of the operations on people, invitations and tokens."""

from __future__ import annotations

from dataclasses import replace

from accounts.models import Role
from tests.config.authorisation.target import Target
from tests.config.authorisation.world import World
from tests.conftest import client_for
from tests.support.builders import unique


def inviting(world: World) -> Target:
    body = {"email": f"{unique('dora')}@example.com", "role": "auditor"}
    return world.running(body)


def invited(world: World) -> Target:
    with client_for(world.live, world.admin) as admin:
        made = admin.post("/people/invitations", json=inviting(world).body).json()
    return replace(world.running(), invitation=made["id"])


def joined(world: World) -> Target:
    newest = world.person("newest", Role.REVIEWER, world.project)
    return replace(world.running(), person=str(newest.user.code))


def promoting(world: World) -> Target:
    return replace(joined(world), body={"role": "manager"})


def holding_token(world: World) -> Target:
    """The admin's own."""
    with client_for(world.live, world.admin) as admin:
        made = admin.post("/me/tokens", json={"name": "terminal"}).json()
    return replace(world.running(), token=made["id"])
