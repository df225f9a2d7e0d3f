"""GET /runs/{run}/events: a run's ledger as server-sent events, both ways."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from django.conf import settings
from django.db import OperationalError
from django.test import Client as DjangoClient
from django.utils import timezone

from accounts.models import AgentKey, Membership, PersonalToken, Project, Role
from gateway.streams import events, feeds, followers
from ledger.waiting import hub
from reviews.open_access import SessionAccess
from tests.config.fastpath.stages import ODD_HEADERS, Stage, alike, odd_request
from tests.config.fastpath.streams import ledger, listen, until_parked
from tests.conftest import client_for
from tests.support.applications import build_application
from tests.support.builders import (
    Person,
    Robot,
    make_person,
    pause_at_once,
    start_run,
    step,
)
from tests.support.examples import ALL
from tests.support.live import Live, serve
from tests.support.people import rule
from tests.support.raw import head
from tests.support.threads import tidily
from tests.support.waiting import until

FINISH = {"outcome": "completed"}


@pytest.fixture(params=["fast path", "django"])
def server(request: pytest.FixtureRequest, live: Live, plain: Live) -> Live:
    """Both ways to this door."""
    return live if request.param == "fast path" else plain


@pytest.fixture
def robot(server: Live, robo: Robot) -> Iterator[httpx.Client]:
    with client_for(server, robo) as client:
        yield client


def report(client: httpx.Client, run: str, *numbers: int, **more: Any) -> None:
    for number in numbers:
        answer = client.post(f"/runs/{run}/steps", json=step(number, **more))
        assert answer.status_code == 201, answer.text


def test_what_is_there_then_what_comes_then_the_end(
    robot: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(robot, task="Rename “naïve”\nto \u2028☃")
    report(robot, run, 1, 2)

    with listen(robot, run) as heard:
        headers = heard.response.headers
        assert headers["content-type"] == "text/event-stream"
        assert headers["cache-control"] == "no-store"
        assert headers["x-accel-buffering"] == "no"
        assert headers["x-content-type-options"] == "nosniff"
        got = heard.entries(3)
        until_parked(run)
        report(robot, run, 3)  # an everyday step, for which nobody else is woken
        got += heard.entries(1)
        review = pause_at_once(robot, run, number=4)
        got += heard.entries(2)
        rule(reviewer, review, "approve", note="go on")
        got += heard.entries(1)
        until_parked(run)
        robot.post(f"/runs/{run}/finish", json=FINISH)
        got += heard.entries(1)
        over = heard.block()
        assert heard.closed

    assert got == ledger(robot, run)
    types = [entry["type"] for entry in got[-4:]]
    assert types == ["step.judged", "review.opened", "review.ruled", "run.finished"]
    assert list(over) == ["event", "data"]
    assert over["event"] == "end"
    assert json.loads(over["data"]) == {
        "run": run,
        "status": "completed",
        "head": robot.get(f"/runs/{run}").json()["head"],
    }
    # Whoever comes back after the end hears that it was the end.
    with listen(robot, run, last=len(got)) as again:
        assert again.block() == over
        assert again.closed


def test_a_reader_goes_on_where_it_stood_without_gap_or_repeat(
    robot: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "PAGE_BYTES", 4_000)
    monkeypatch.setattr(feeds, "STRIDE", 3)
    run = start_run(robot)
    report(robot, run, *range(1, 15))
    got: list[dict[str, Any]] = []

    for count in (1, 3, 9, 2):
        with listen(robot, run, last=len(got)) as heard:
            got += heard.entries(count)
    # The address never changes; the header that comes with it is newer.
    with listen(robot, run, "?after=2", last=len(got)) as heard:
        report(robot, run, 15, 16)
        got += heard.entries(2)
    with listen(robot, run, "?after=2") as heard:
        assert heard.entry()["seq"] == 3

    assert got == ledger(robot, run)
    until_parked(run, 0)


def test_both_ways_refuse_and_answer_alike(stages: tuple[Stage, Stage]) -> None:
    for stage in stages:
        stage.agent.post(f"/runs/{stage.run}/finish", json=FINISH)
        path = f"/runs/{stage.run}/events"
        for what, client in (("agent", stage.agent), ("person", stage.person)):
            stage.hear(what, client.get(path))
        for text in ("2", "3", "", "-1", "x", "1.0", "²", "99999999999", "0" * 11):
            stage.hear(f"after={text}", client.get(path, params={"after": text}))
            header = [(b"Last-Event-ID", text.encode())]
            stage.hear(f"Last-Event-ID: {text}", client.get(path, headers=header))
        for query in ("after=x&after=1", "after", "since=1", "after=%00", "&"):
            stage.hear(query, client.get(f"{path}?{query}"))
        for verb in ("POST", "PUT", "DELETE", "HEAD", "OPTIONS"):
            stage.hear(verb, client.request(verb, path))
        for code in ("01900000-0000-7000-8000-000000000000", "x", "%00"):
            stage.hear(f"run {code}", client.get(f"/runs/{code}/events"))
        odd = {**ODD_HEADERS, "two ids": [("Last-Event-ID", "1")] * 2}
        for what, headers in odd.items():
            stage.hear(what, odd_request(stage, path[1:], None, headers))

    alike(stages)
    statuses = {what: heard[0] for what, heard in stages[0].heard.items()}
    assert statuses["agent"] == statuses["person"] == statuses["after=2"] == 200
    assert statuses["after=3"] == statuses["Last-Event-ID: 3"] == 422
    assert statuses["Last-Event-ID: "] == statuses["after=x"] == 422
    assert statuses["run x"] == 404
    assert statuses["two ids"] == 400
    assert statuses["no key"] == 401


async def test_fifty_readers_hear_the_same_and_leave_nothing(
    server: Live, robo: Robot
) -> None:
    with client_for(server, robo) as robot:
        run = start_run(robot)
        limits = httpx.Limits(max_connections=None)

        async def follow(client: httpx.AsyncClient, *, leave_after: int) -> list[int]:
            heard: list[int] = []
            async with client.stream("GET", f"/runs/{run}/events") as answer:
                async for line in answer.aiter_lines():
                    if line.startswith("id: "):
                        heard.append(int(line[4:]))
                        if len(heard) == leave_after:
                            break
            return heard

        def tell() -> None:
            until_parked(run, 50)
            report(robot, run, *range(1, 5))
            until_parked(run, 25)  # those who hung up wait for nothing any more
            report(robot, run, *range(5, 10))
            robot.post(f"/runs/{run}/finish", json=FINISH)
            until_parked(run, 0)

        async with httpx.AsyncClient(
            base_url=server.api,
            headers=robo.headers,
            limits=limits,
            timeout=30,
            verify=False,  # noqa: S501 (plain HTTP)
        ) as client:
            told = asyncio.create_task(asyncio.to_thread(tidily, tell))
            readers = [
                follow(client, leave_after=5 if number % 2 else 100)
                for number in range(50)
            ]
            heard = await asyncio.gather(*readers)
            await told

    for number, seqs in enumerate(heard):
        assert seqs == list(range(1, 6 if number % 2 else 12))
    assert not any(each._open for each in followers._followers.list_all())


def test_a_reader_that_may_no_longer_look_is_let_go_in_time(
    live: Live, agent: httpx.Client, robo: Robot, bob: Person, project: Project
) -> None:
    run = start_run(agent)
    dora = make_person("dora", role=Role.REVIEWER, project=project)
    eve = make_person("eve", role=Role.REVIEWER, project=project)
    browser = DjangoClient()
    browser.force_login(eve.user)
    name = settings.SESSION_COOKIE_NAME
    with ExitStack() as stack:
        clients = [client_for(live, somebody) for somebody in (robo, bob, dora)]
        cookies = {name: browser.cookies[name].value}
        clients.append(httpx.Client(base_url=live.api, cookies=cookies, timeout=30))
        streams = []
        for client in clients:
            stack.enter_context(client)
            streams.append(stack.enter_context(listen(client, run)))
        for heard in streams:
            assert heard.entry()["type"] == "run.started"
        until_parked(run, 4)

        # Behind the back of this process, as another one would do it.
        gone = {"revoked_at": timezone.now()}
        AgentKey.objects.filter(agent__project=project).update(**gone)
        PersonalToken.objects.filter(user=bob.user).update(**gone)
        Membership.objects.filter(user=dora.user).delete()
        browser.logout()
        began = time.monotonic()

        assert all(heard.closed for heard in streams)
        assert time.monotonic() - began < (5 if ALL else 30)


def test_a_revoked_key_hears_not_even_the_next_entry(
    live: Live, agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    run = start_run(agent)
    with listen(agent, run) as heard:
        heard.entry()
        until_parked(run)
        now = timezone.now()
        AgentKey.objects.filter(agent__project=project).update(revoked_at=now)

        reviewer.post(f"/runs/{run}/abort", json={"reason": "enough"})

        assert heard.closed


def _list_stuck() -> list[followers.Follower]:
    """A piece has been on its way for a second, and while its loop took many turns: the
    buffers of both sockets are full."""

    async def take_turns() -> None:
        for _ in range(100):
            await asyncio.sleep(0)

    sending = [e for here in followers._followers.list_all() for e in [*here._sending]]
    since = {each: each._sending_since for each in sending}
    for loop in {each._loop for each in sending}:
        asyncio.run_coroutine_threadsafe(take_turns(), loop).result(timeout=60)
    return [
        each
        for each, began in since.items()
        if began is not None and each._loop.time() - began > 1.0
        if each._sending_since == began
    ]


def test_a_reader_that_takes_nothing_is_waited_for_then_let_go(
    live: Live,
    plain: Live,
    agent: httpx.Client,
    robo: Robot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page_of = feeds._read_page
    monkeypatch.setattr(feeds, "STRIDE", 1)
    monkeypatch.setattr(followers, "ACCESS_SECONDS", 0.1)
    run = start_run(agent)
    edit = {"kind": "edit", "file_path": "a.py", "content": "x = 1\n" * 40_000}
    for _ in range(20):  # more than the buffers of two sockets hold
        assert agent.post(f"/runs/{run}/tool-calls", json=edit).status_code == 201
    for server in (live, plain):
        pages: list[int] = []

        def counted(
            run_id: int, code: str, after: int, end: int, pages: list[int] = pages
        ) -> feeds.Page:
            pages.append(after)
            return page_of(run_id, code, after, end)

        monkeypatch.setattr(feeds, "_read_page", counted)
        monkeypatch.setattr(followers, "STALLED_SECONDS", 60)
        url = urlsplit(server.url)
        key = f"Authorization: Bearer {robo.key}"
        with socket.socket() as link:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            link.connect((url.hostname, url.port))
            link.sendall(head(server, "GET", f"/api/v1/runs/{run}/events", key))
            until(lambda: bool(_list_stuck()))
            (stuck,) = _list_stuck()
            since = stuck._sending_since
            assert pages[-1] < 18

            with listen(agent, run) as heard:  # it holds up nobody
                assert heard.entry()["type"] == "run.started"
            assert stuck._sending_since == since

            monkeypatch.setattr(followers, "STALLED_SECONDS", 0.1)
            until(lambda: not any(e._open for e in followers._followers.list_all()))


def test_entries_that_are_gone_are_not_looked_for_without_a_pause(
    robot: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody has deleted all but the first entry, past every trigger."""
    looks: list[int] = []
    page = feeds._read_page

    def cut(run_id: int, run_code: str, after: int, until: int) -> feeds.Page:
        looks.append(after)
        return page(run_id, run_code, after, min(until, 1))

    monkeypatch.setattr(feeds, "_read_page", cut)
    monkeypatch.setattr(events, "HEARTBEAT_SECONDS", 0.3)
    run = start_run(robot)
    report(robot, run, 1)
    with listen(robot, run) as heard:
        heard.entries(1)
        assert heard.block() == {"": "still here"}
        assert heard.block() == {"": "still here"}
    assert looks.count(0) == 1
    assert looks.count(1) <= 4


def test_a_word_now_and_then_keeps_the_line_open(
    robot: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "HEARTBEAT_SECONDS", 0.1)
    run = start_run(robot)
    with listen(robot, run, last=1) as heard:
        assert [heard.block() for _ in range(3)] == [{"": "still here"}] * 3


def test_trouble_with_the_database_ends_the_stream_in_good_order(
    robot: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start_run(robot)
    with listen(robot, run, last=1) as heard:
        until_parked(run)

        def gone(*_: object) -> None:
            raise OperationalError("the server closed the connection")

        monkeypatch.setattr(feeds, "_read_changes", gone)
        report(robot, run, 1)

        assert heard.closed
    monkeypatch.undo()
    with listen(robot, run, last=1) as heard:
        assert heard.entry()["payload"]["report"]["number"] == 1


async def test_a_new_reader_does_not_join_a_feed_that_has_failed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # It is there for as long as a slow reader holds on to it.
    monkeypatch.setattr(feeds.Feed, "_follow", lambda _feed: asyncio.sleep(0))
    reader = SessionAccess(user_id=1, project_id=1, session_key="", auth_hash="")
    slow, new = followers.Follower(reader), followers.Follower(reader)
    all_feeds = feeds.Feeds()
    failed = all_feeds.join(1, "", slow)
    failed.error = OperationalError("the server closed the connection")

    joined = all_feeds.join(1, "", new)
    all_feeds.leave(failed, slow)

    assert joined is not failed
    assert all_feeds.open == {1: joined}


def test_a_server_that_stops_lets_its_readers_go(
    live: Live, robo: Robot, agent: httpx.Client
) -> None:
    run = start_run(agent)
    with (
        serve(build_application(FAST_PATH=False)) as server,
        client_for(server, robo) as robot,
        listen(robot, run, last=1) as heard,
    ):
        until_parked(run)
        (there,) = (each for each in hub._hubs.list_all() if each._followers)
        there._loop.call_soon_threadsafe(there.release)

        assert heard.closed
