"""The same API served twice: with the lean front, and by Django alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test.utils import override_settings

from accounts.models import Role
from config.asgi import build_http
from config.fastpath.asgi import App, Receive, Scope, Send
from ledger.waiting.hub import close_hub
from tests.config.fastpath.stages import Stage
from tests.conftest import client_for
from tests.support.builders import make_person, make_project, make_robot, start_run
from tests.support.live import Live, serve


def build_application(**overrides: Any) -> App:
    """Our HTTP application, built under other settings."""
    with override_settings(**overrides):
        http = build_http()

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await http(scope, receive, send)
            return
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await close_hub()
        await send({"type": "lifespan.shutdown.complete"})

    return application


@pytest.fixture(scope="module")
def plain(live: Live) -> Iterator[Live]:
    """The same API without the lean front: Django alone behind the guard."""
    with serve(build_application(LEAN_FRONT=False)) as server:
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
