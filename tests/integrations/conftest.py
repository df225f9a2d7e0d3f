"""The agent's own client, on the live server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from checkrail import AsyncCheckrail, Checkrail

from tests.integrations.newcomer import Newcomer
from tests.support.builders import Robot
from tests.support.live import Live


@pytest.fixture
def checkrail(live: Live, robo: Robot) -> Iterator[Checkrail]:
    with Checkrail(live.url, robo.key) as client:
        yield client


@pytest.fixture
async def async_checkrail(live: Live, robo: Robot) -> AsyncIterator[AsyncCheckrail]:
    async with AsyncCheckrail(live.url, robo.key) as client:
        yield client


@pytest.fixture
def newcomer(live: Live, robo: Robot, tmp_path: Path) -> Newcomer:
    return Newcomer(live, robo, tmp_path)
