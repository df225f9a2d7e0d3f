"""One caller's event streams take the server away from nobody."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.test import Client as DjangoClient
from django.test.utils import override_settings

from accounts.models import Project, Role
from gateway.streams import feeds
from tests.config.fastpath.streams import listen, until_parked
from tests.conftest import client_for
from tests.support.builders import Person, Robot, make_person, start_run, step
from tests.support.live import Live
from tests.support.waiting import until


@pytest.fixture(params=["fast path", "django"])
def server(request: pytest.FixtureRequest, live: Live, plain: Live) -> Live:
    """Both ways to this door."""
    return live if request.param == "fast path" else plain


@pytest.fixture
def robot(server: Live, robo: Robot) -> Iterator[httpx.Client]:
    with client_for(server, robo) as client:
        yield client


def is_refused(client: httpx.Client, run: str) -> bool:
    with client.stream("GET", f"/runs/{run}/events") as answer:
        if answer.status_code == 200:
            return False
        answer.read()
        problem = answer.json()
    assert answer.status_code == 429
    assert answer.headers["content-type"] == "application/problem+json"
    assert int(answer.headers["retry-after"]) > 0
    assert problem["type"] == "/problems/rate-limited"
    return True


def test_a_key_has_so_many_streams(robot: httpx.Client) -> None:
    runs = [start_run(robot) for _ in range(4)]
    with override_settings(STREAMS_PER_KEY=3), ExitStack() as stack:
        for run in runs[:3]:
            stack.enter_context(listen(robot, run)).entry()
        assert is_refused(robot, runs[3])
        assert is_refused(robot, runs[0])
        stack.close()
        until(lambda: not is_refused(robot, runs[3]))


def test_a_run_has_so_many_streams(
    server: Live, robot: httpx.Client, project: Project, bob: Person
) -> None:
    run, other = start_run(robot), start_run(robot)
    dora = make_person("dora", role=Role.REVIEWER, project=project)
    with (
        override_settings(STREAMS_PER_RUN=2),
        client_for(server, bob) as second,
        client_for(server, dora) as third,
        listen(robot, run) as heard,
        listen(second, run),
    ):
        heard.entry()
        assert is_refused(third, run)
        assert not is_refused(third, other)


def test_a_person_has_so_many_with_all_their_tokens_and_sessions(
    live: Live, robot: httpx.Client, bob: Person
) -> None:
    runs = [start_run(robot) for _ in range(3)]
    browser = DjangoClient()
    browser.force_login(bob.user)
    name = settings.SESSION_COOKIE_NAME
    cookies = {name: browser.cookies[name].value}
    with (
        override_settings(STREAMS_PER_KEY=2),
        client_for(live, bob) as program,
        httpx.Client(base_url=live.api, cookies=cookies, timeout=30) as page,
        listen(program, runs[0]),
        listen(page, runs[1]),
    ):
        assert is_refused(program, runs[2])
        assert is_refused(page, runs[2])


def test_all_streams_of_a_run_share_one_look(
    robot: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start_run(robot)
    looks: list[Any] = []
    look = feeds._read_changes

    def counted(*given: Any) -> feeds.Changes:
        looks.append(given)
        return look(*given)

    with ExitStack() as stack:
        heard = [stack.enter_context(listen(robot, run)) for _ in range(30)]
        for one in heard:
            assert one.entry()["seq"] == 1
        until_parked(run, 30)
        monkeypatch.setattr(feeds, "_read_changes", counted)
        robot.post(f"/runs/{run}/steps", json=step(1))
        for one in heard:
            assert one.entry()["seq"] == 2
        until_parked(run, 30)

    assert len(looks) <= 2  # a second one where the re-check came in between
