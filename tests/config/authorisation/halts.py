"""A run to halt, and a halt to release."""

from __future__ import annotations

from tests.config.authorisation.target import ABSENT, Target
from tests.config.authorisation.world import World
from tests.conftest import client_for
from tests.support.builders import start_run


def choose_run(world: World) -> Target:
    run = start_run(world.agent)
    return Target(run, ABSENT, {"scope": {"run": run}, "reason": "It runs wild"})


def halt_run(world: World) -> Target:
    target = choose_run(world)
    with client_for(world.live, world.manager) as manager:
        halt = manager.post("/halts", json=target.body).json()["id"]
    return Target(target.run, ABSENT, {"reason": "Tamed"}, halt=halt)
