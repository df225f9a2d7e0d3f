"""Whoever loses the right to wait is told so within seconds, not when the wait is over."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from django.utils import timezone

from accounts.models import AgentKey, Membership, PersonalToken, Project, User
from ledger.models import Run
from tests.conftest import PLAIN
from tests.gateway.coding_agents.hosts import Host, is_waited_for
from tests.gateway.coding_agents.test_fails_closed import holds
from tests.support.builders import Person, Robot, pause_at_once, start_run
from tests.support.live import Live
from tests.support.waiting import until

# Far more than the five seconds that are promised, far less than the wait.
PATIENCE = 20


@pytest.fixture(params=["fast path", "django"])
def server(request: pytest.FixtureRequest, live: Live, plain: Live) -> Live:
    """Both ways to this door."""
    return live if request.param == "fast path" else plain


def impatient(server: Live, somebody: Person | Robot) -> httpx.Client:
    return httpx.Client(
        base_url=server.api, headers=somebody.headers, timeout=PATIENCE, verify=PLAIN
    )


def park(client: httpx.Client, run: str) -> Future[httpx.Response]:
    """A long-poll of nearly a minute that the server holds."""
    pool = ThreadPoolExecutor(max_workers=1)
    answer = pool.submit(client.get, f"/runs/{run}/decision", params={"wait": 55})
    pool.shutdown(wait=False)
    until(lambda: is_waited_for(Run.objects.get(code=run)))
    return answer


def revoke(model: Any, **which: Any) -> None:
    """Behind the back of this process, as another one would do it."""
    model.objects.filter(**which).update(revoked_at=timezone.now())


def test_a_revoked_key_waits_no_longer(
    server: Live, agent: httpx.Client, robo: Robot, project: Project
) -> None:
    run = start_run(agent)
    pause_at_once(agent, run)
    with impatient(server, robo) as client:
        answer = park(client, run)
        revoke(AgentKey, agent__project=project)
        assert answer.result().status_code == 401
        assert answer.result().json()["type"] == "/problems/unauthenticated"


def test_a_revoked_token_waits_no_longer(
    server: Live, agent: httpx.Client, bob: Person
) -> None:
    run = start_run(agent)
    pause_at_once(agent, run)
    with impatient(server, bob) as client:
        answer = park(client, run)
        revoke(PersonalToken, user=bob.user)
        assert answer.result().status_code == 401


def test_a_person_who_was_deactivated_waits_no_longer(
    server: Live, agent: httpx.Client, bob: Person
) -> None:
    run = start_run(agent)
    pause_at_once(agent, run)
    with impatient(server, bob) as client:
        answer = park(client, run)
        User.objects.filter(pk=bob.user.pk).update(is_active=False)
        assert answer.result().status_code == 401


def test_a_removed_member_waits_no_longer(
    server: Live, agent: httpx.Client, bob: Person
) -> None:
    run = start_run(agent)
    pause_at_once(agent, run)
    with impatient(server, bob) as client:
        answer = park(client, run)
        Membership.objects.filter(user=bob.user).delete()
        assert answer.result().status_code == 404


def test_a_held_hook_of_a_revoked_key_is_denied(
    live: Live, robo: Robot, project: Project
) -> None:
    with impatient(live, robo) as client:
        host = Host(client, options={"wait_s": "60"})
        given = {"command": "rm -rf build", "description": "Does it"}
        pool = ThreadPoolExecutor(max_workers=1)
        answer = pool.submit(host.send, "PreToolUse-Bash", tool_input=given)
        pool.shutdown(wait=False)
        until(lambda: host.known and is_waited_for(host.run))
        revoke(AgentKey, agent__project=project)
        assert answer.result().headers["checkrail-trouble"] == "unauthenticated"
        assert holds("PreToolUse", answer.result().json())
