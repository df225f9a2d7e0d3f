"""The same API served twice: with the fast path, and by Django alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from accounts.models import Role
from tests.config.fastpath.stages import Stage
from tests.conftest import client_for
from tests.support.applications import build_application
from tests.support.builders import make_person, make_project, make_robot, start_run
from tests.support.live import Live, serve


@pytest.fixture(scope="module")
def plain(live: Live) -> Iterator[Live]:
    """The same API without the fast path: Django alone behind the guard."""
    with serve(build_application(FAST_PATH=False)) as server:
        yield server


@pytest.fixture
def stages(live: Live, plain: Live) -> Iterator[tuple[Stage, Stage]]:
    made = []
    for server in (live, plain):
        project = make_project()
        agent = client_for(server, make_robot(project=project))
        bob = make_person("bob", role=Role.REVIEWER, project=project)
        person = client_for(server, bob)
        made.append(Stage(agent=agent, person=person, run=start_run(agent)))
    yield made[0], made[1]
    for stage in made:
        stage.agent.close()
        stage.person.close()
