"""A key that another process has revoked is good here for seconds, not for ever."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import httpx
import pytest
from django.db import connection
from django.utils import timezone

from accounts import auth
from accounts.models import AgentKey, PersonalToken, Project
from accounts.services import revoke_secrets
from tests.conftest import client_for
from tests.support.builders import Person, Robot
from tests.support.live import Live
from tests.support.problems import problem
from tests.support.processes import another_web_process
from tests.support.waiting import until


@pytest.fixture
def other(live: Live) -> Iterator[Live]:
    if connection.vendor != "postgresql":
        pytest.skip("On SQLite there is one process.")
    with another_web_process() as process:
        yield process.live


@pytest.mark.parametrize("who", ["agent", "reviewer"])
def test_what_is_remembered_of_a_secret_ends(
    who: str,
    request: pytest.FixtureRequest,
    project: Project,
    bob: Person,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client: httpx.Client = request.getfixturevalue(who)
    now = 1_000.0
    monkeypatch.setattr(auth, "time", SimpleNamespace(monotonic=lambda: now))
    assert client.get("/runs").status_code == 200
    # Behind the back of this process, as another one does it.
    revoked = {"revoked_at": timezone.now()}
    AgentKey.objects.filter(agent__project=project).update(**revoked)
    PersonalToken.objects.filter(user=bob.user).update(**revoked)
    now += auth.CACHE_SECONDS
    assert client.get("/runs").status_code == 200

    now += 0.001

    problem(client.get("/runs"), "unauthenticated")


def test_what_is_revoked_here_is_refused_there(
    other: Live, project: Project, robo: Robot, bob: Person
) -> None:
    with client_for(other, robo) as agent, client_for(other, bob) as reviewer:
        there = (agent, reviewer)
        assert [client.get("/runs").status_code for client in there] == [200, 200]

        revoke_secrets(AgentKey.objects.filter(agent__project=project))
        revoke_secrets(PersonalToken.objects.filter(user=bob.user))

        for client in there:
            until(lambda client=client: client.get("/runs").status_code == 401)  # type: ignore[misc]
            problem(client.get("/runs"), "unauthenticated")
