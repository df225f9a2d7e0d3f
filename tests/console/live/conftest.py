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
    for name in ("RECHECK_SECONDS", "ACCESS_SECONDS"):
        monkeypatch.setattr(broadcasting, name, 3600.0)
    return world


@pytest.fixture
async def here(world: World) -> AsyncIterator[Broadcaster]:
    here = Broadcaster()
    yield here
    await here.stop()
