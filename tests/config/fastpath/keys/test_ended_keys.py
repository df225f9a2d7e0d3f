"""A key that ends lets nobody wait any longer: by long-poll, stream or hook, anywhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import timedelta

import httpx
import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import AgentKey, Project
from reviews.models import AgentWait
from tests.config.fastpath.streams import listen
from tests.conftest import client_for
from tests.gateway.coding_agents.hosts import Host
from tests.gateway.coding_agents.test_fails_closed import holds
from tests.support.builders import Robot, pause_at_once, start_run
from tests.support.examples import ALL
from tests.support.live import Live
from tests.support.processes import another_web_process
from tests.support.waiting import until

# Promised are 5 seconds; a machine that tests beside it may be kept from its work longer.
PROMISED_S = 5 if ALL else 30
# Until a key expires here.
SOON = timedelta(seconds=1)


@pytest.fixture
def servers(live: Live) -> Iterator[list[Live]]:
    """One process on SQLite, two on PostgreSQL."""
    if connection.vendor == "sqlite":
        yield [live]
        return
    with another_web_process() as process:
        yield [live, process.live]


def end_key(project: Project, admin: httpx.Client, ending: str) -> float:
    """How long it is until the key is good for nothing."""
    key = AgentKey.objects.select_related("agent").get(agent__project=project)
    if ending == "revoked":
        path = f"/agents/{key.agent.code}/keys/{key.code}"
        assert admin.delete(path).status_code == 204
        return 0
    AgentKey.objects.filter(pk=key.pk).update(expires_at=timezone.now() + SOON)
    return SOON.total_seconds()


@pytest.mark.parametrize("ending", ["revoked", "expired"])
def test_every_way_of_waiting_ends_with_the_key_in_every_process(
    servers: list[Live],
    robo: Robot,
    project: Project,
    admin: httpx.Client,
    ending: str,
) -> None:
    given = {"command": "rm -rf build", "description": "Does it"}
    with ExitStack() as stack, ThreadPoolExecutor(2 * len(servers)) as pool:
        polls, streams, hooks = [], [], []
        for server in servers:
            client = stack.enter_context(client_for(server, robo))
            run = start_run(client)
            pause_at_once(client, run)
            heard = stack.enter_context(listen(client, run))
            assert heard.entry()["type"] == "run.started"
            streams.append(heard)
            path, wait = f"/runs/{run}/decision", {"wait": 25}
            polls.append(pool.submit(client.get, path, params=wait))
            host = Host(client, options={"wait_s": "60"})
            hooks.append(pool.submit(host.send, "PreToolUse-Bash", tool_input=given))
        waits = AgentWait.objects.filter(review__run__project=project)
        until(lambda: waits.count() == 2 * len(servers))

        began = time.monotonic()
        least = end_key(project, admin, ending)
        assert [poll.result().status_code for poll in polls] == [401] * len(servers)
        for hook in hooks:
            assert hook.result().headers["checkrail-trouble"] == "unauthenticated"
            assert holds("PreToolUse", hook.result().json())
        for heard in streams:
            while heard.block() != {"": "closed"}:
                pass
        assert least < time.monotonic() - began < least + PROMISED_S
