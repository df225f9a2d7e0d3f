"""One database for all outages: each leaves it running."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.outages.services import Services, add_redis, run_database


@pytest.fixture(scope="session")
def own_database() -> Iterator[Services]:
    with run_database() as services:
        yield services


@pytest.fixture
def services(own_database: Services) -> Iterator[Services]:
    with add_redis(own_database) as services:
        yield services
