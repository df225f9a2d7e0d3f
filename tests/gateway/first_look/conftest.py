"""A run whose policy lets a model look first."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from accounts.models import Project
from tests.support.builders import make_policy, start_run

Start = Callable[..., Awaitable[str]]


@pytest.fixture
def start(agent: httpx.Client, project: Project) -> Start:
    """Starts a run under a policy with these settings of the first look."""

    def make(tools: dict[str, Any] | None, look: dict[str, Any]) -> str:
        section = {"enabled": True, "rules": ["delete-*", "git-*"], "blind_share": 0}
        first_look = {**section, **look}
        make_policy(
            "looked", project=project, tools={"first_look": first_look, **(tools or {})}
        )
        return start_run(agent, policy="looked")

    async def start(tools: dict[str, Any] | None = None, /, **look: Any) -> str:
        return await asyncio.to_thread(make, tools, look)

    return start
