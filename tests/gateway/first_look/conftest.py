"""A run whose policy lets a model look first."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import httpx
import pytest

from accounts.models import Project
from ledger.writer.db_threads import run_in_db_thread
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
        made: str = await run_in_db_thread(partial(make, tools, look))
        return made

    return start
