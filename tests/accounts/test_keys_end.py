"""A key that ended is refused within five seconds everywhere, also where it already waits."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from functools import partial

import httpx
import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import Agent, AgentKey, Project
from ledger.models import Run
from ledger.waiting.hub import count_waiting
from reviews.administration.agents.keys import revoke_keys
from reviews.administration.agents.services import change_agent
from tests.conftest import client_for
from tests.support.builders import Robot, pause_at_once, start_run
from tests.support.examples import ALL
from tests.support.live import Live
from tests.support.processes import another_web_process
from tests.support.waiting import until

# Promised are 5 seconds; a machine that tests beside it may be kept from its work longer.
IN_FORCE_SECONDS = 5.0 if ALL else 30.0


def revoke(project: Project) -> None:
    agent = Agent.objects.get(project=project, name="robo")
    revoke_keys(agent=agent, by=None, keys=list(AgentKey.objects.filter(agent=agent)))


def expire(project: Project) -> None:
    past = timezone.now() - timedelta(seconds=2)
    AgentKey.objects.filter(agent__project=project).update(expires_at=past)


def disable(project: Project) -> None:
    agent = Agent.objects.get(project=project, name="robo")
    change_agent(agent=agent, by=None, wanted={"disabled": True})


ENDS = {"revoked": (revoke, 401), "expired": (expire, 401), "disabled": (disable, 403)}


@pytest.fixture
def other(live: Live) -> Iterator[Live]:
    """Another process where there can be one; on SQLite the one that there is."""
    if connection.vendor != "postgresql":
        yield live
        return
    with another_web_process() as process:
        yield process.live


def wait_there(client: httpx.Client, path: str, told: list[int]) -> None:
    told.append(client.get(path, timeout=60).status_code)


def follow(client: httpx.Client, path: str, told: list[int]) -> None:
    with client.stream("GET", path, timeout=60) as stream:
        told.append(stream.status_code)
        for _ in stream.iter_bytes():
            pass
    told.append(0)


@pytest.mark.parametrize("how", sorted(ENDS))
def test_whoever_waits_with_an_ended_key_is_told_in_every_process(
    how: str, other: Live, live: Live, project: Project, robo: Robot
) -> None:
    end, status = ENDS[how]
    with client_for(live, robo) as here, client_for(other, robo) as there:
        run = start_run(here)
        pause_at_once(here, run)
        waits: list[list[int]] = [[], []]
        streams: list[int] = []
        path = f"/runs/{run}/decision?wait=50"
        threads = [
            threading.Thread(target=partial(wait_there, client, path, told))
            for client, told in zip((here, there), waits, strict=True)
        ]
        follower = client_for(other, robo)
        threads.append(
            threading.Thread(
                target=partial(follow, follower, f"/runs/{run}/events", streams)
            )
        )
        for thread in threads:
            thread.start()
        until(lambda: count_waiting(Run.objects.get(code=run).pk) > 0)
        until(lambda: streams == [200])

        end(project)

        began = time.monotonic()
        for thread in threads:
            thread.join(60)
        took = time.monotonic() - began
        follower.close()
        assert waits == [[status], [status]]
        assert streams == [200, 0]
        assert took < IN_FORCE_SECONDS
        for client in (here, there):
            until(partial(is_refused, client, status))


def is_refused(client: httpx.Client, status: int) -> bool:
    return client.get("/runs").status_code == status
