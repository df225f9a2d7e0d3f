"""What the doors of agents and keys are knocked at with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from accounts.services import issue_agent_key
from tests.config.authorisation.target import Target
from tests.config.authorisation.world import World


def keep_agent(world: World, body: Any = None) -> Target:
    """An agent with one more key than before."""
    key, _ = issue_agent_key(name="kept", project_slug=world.project.slug)
    target = world.running(body)
    return replace(target, agent=str(key.agent.code), key=str(key.code))


def plan_calls(world: World) -> Target:
    """A run, and a plan that its agent may submit."""
    call = {"tool": "Bash", "command": "rm -rf build"}
    steps = [{"purpose": "Clean", "calls": [call]}]
    return world.running({"title": "Clean up", "steps": steps})
