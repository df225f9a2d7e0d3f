"""The cast and the stage: one database, one live server, a project for every test.

Nothing is flushed between tests (the ledger refuses to forget): each test works in a
project of its own, and everything in Checkrail is scoped by project.
"""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from django.conf import settings
from django.test.utils import override_settings
from httpx._config import DEFAULT_TIMEOUT_CONFIG
from pytest_django import DjangoDbBlocker

from accounts.models import Project, Role
from ledger.writer import close_writer
from tests.runner.database import migrated_database
from tests.support.builders import Person, Robot, make_person, make_project, make_robot
from tests.support.checked_answers import take_faults
from tests.support.document import check_answer
from tests.support.live import Live, serve

pytest_plugins = [
    "pytester",
    "tests.runner.lanes",
    "tests.runner.other_threads",
    "tests.support.examples",
    "tests.support.pure_decide",
]

# What a client of a test waits for at most, unless it says otherwise: five seconds are not
# enough on a busy machine.
DEFAULT_TIMEOUT_CONFIG.read = DEFAULT_TIMEOUT_CONFIG.connect = 60.0

# Plain HTTP: no certificates need be read, and no client needs a context of its own.
PLAIN = httpx.create_ssl_context(verify=False)


@pytest.fixture(scope="session")
def database(
    django_test_environment: None,
    django_db_modify_db_settings: None,
    django_db_blocker: DjangoDbBlocker,
) -> Iterator[None]:
    """The test database, open to every test that asks for something in it."""
    from tests.runner.raw_numbers import guard_templates
    from tests.support.pure_decide import (
        guard_decide,  # a plug-in is imported by pytest first
    )

    # Invented people: their passwords need not withstand anybody.
    quick = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    hashers = override_settings(PASSWORD_HASHERS=quick + settings.PASSWORD_HASHERS)
    with (
        hashers,
        django_db_blocker.unblock(),
        migrated_database(),
        pytest.MonkeyPatch.context() as patch,
    ):
        guard_decide(patch)
        guard_templates(patch)
        yield
        close_writer()


@pytest.fixture(scope="session")
def django_db_setup() -> None:
    """Asked for by the plug-in's own marks and fixtures: a second database would be made."""
    pytest.fail("Ask for the fixture `database`, and for no mark `django_db`.")


@pytest.fixture(scope="session")
def live(database: None) -> Iterator[Live]:
    """The whole application behind a real HTTP server."""
    from config.asgi import application

    with serve(application) as server:
        yield server


@pytest.fixture(autouse=True)
def documented_answers() -> Iterator[None]:
    """Fail a test during which a server of ours answered what is not documented."""
    take_faults()
    yield
    assert take_faults() == []


@pytest.fixture(autouse=True)
def own_address() -> Iterator[None]:
    """Forget after each test where a server that it started in this process listens."""
    before = settings.SERVED_PORT, settings.PUBLIC_URL
    yield
    settings.SERVED_PORT, settings.PUBLIC_URL = before


@pytest.fixture
def project(database: None) -> Project:
    return make_project()


@pytest.fixture
def alice(project: Project) -> Person:
    """A manager."""
    return make_person("alice", role=Role.MANAGER, project=project)


@pytest.fixture
def bob(project: Project) -> Person:
    """A reviewer."""
    return make_person("bob", role=Role.REVIEWER, project=project)


@pytest.fixture
def cleo(project: Project) -> Person:
    """An admin."""
    return make_person("cleo", role=Role.ADMIN, project=project)


@pytest.fixture
def dora(project: Project) -> Person:
    """An auditor."""
    return make_person("dora", role=Role.AUDITOR, project=project)


@pytest.fixture
def charlie(database: None) -> Person:
    """An outsider: an admin, but of another project."""
    return make_person("charlie", role=Role.ADMIN, project=make_project())


@pytest.fixture
def robo(project: Project) -> Robot:
    """An agent."""
    return make_robot(project=project)


@pytest.fixture
def agent(live: Live, robo: Robot) -> Iterator[httpx.Client]:
    """The agent's own HTTP client."""
    with client_for(live, robo) as client:
        yield client


@pytest.fixture
def reviewer(live: Live, bob: Person) -> Iterator[httpx.Client]:
    """The reviewer's program."""
    with client_for(live, bob) as client:
        yield client


@pytest.fixture
def manager(live: Live, alice: Person) -> Iterator[httpx.Client]:
    """The manager's program."""
    with client_for(live, alice) as client:
        yield client


@pytest.fixture
def admin(live: Live, cleo: Person) -> Iterator[httpx.Client]:
    """The admin's program."""
    with client_for(live, cleo) as client:
        yield client


@pytest.fixture
def auditor(live: Live, dora: Person) -> Iterator[httpx.Client]:
    """The auditor's program."""
    with client_for(live, dora) as client:
        yield client


def client_for(live: Live, somebody: Person | Robot) -> httpx.Client:
    return httpx.Client(
        base_url=live.api,
        headers=somebody.headers,
        event_hooks={"response": [check_answer]},
        timeout=30,
        verify=PLAIN,
        trust_env=False,
    )
