"""Targets of the operations on notes to agents."""

from __future__ import annotations

from dataclasses import replace

from tests.config.authorisation.target import Target
from tests.config.authorisation.world import World
from tests.conftest import client_for


def noted(world: World) -> Target:
    """A run whose agent has a note to read."""
    target = world.running()
    with client_for(world.live, world.manager) as manager:
        note = manager.post(f"/runs/{target.run}/notes", json={"text": "Slowly"})
    return replace(target, note=note.json()["id"])
