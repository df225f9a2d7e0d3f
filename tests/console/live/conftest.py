"""A broadcaster whose database is invented."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from console.live import broadcaster as broadcasting
from console.live.broadcaster import Broadcaster
from tests.console.live.stage import World


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    world = World()
    monkeypatch.setattr(broadcasting, "run_in_db_thread", world.ask)
    monkeypatch.setattr(broadcasting, "build_updates", world.build)
    monkeypatch.setattr(broadcasting, "_list_positions", world.list_positions)
    monkeypatch.setattr(broadcasting, "list_refused_sessions", world.list_refused)
    for name in ("COALESCE_SECONDS", "RETRY_SECONDS"):
        monkeypatch.setattr(broadcasting, name, 0.001)
    return world


@pytest.fixture
async def here(world: World) -> AsyncIterator[Broadcaster]:
    """By itself it looks again in an hour."""
    here = Broadcaster(recheck_seconds=3600.0, access_seconds=3600.0)
    yield here
    await here.stop()
