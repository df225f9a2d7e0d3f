"""The client against a real server: an agent's rail and a reviewer's desk."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from checkrail import Checkrail
from checkrail.people import Desk

from tests.support.builders import Person, Robot
from tests.support.live import Live


@pytest.fixture
def rail(live: Live, robo: Robot) -> Iterator[Checkrail]:
    with Checkrail(live.url, robo.key) as rail:
        yield rail


@pytest.fixture
def desk(live: Live, bob: Person) -> Iterator[Desk]:
    with Desk(live.url, bob.token) as desk:
        yield desk
