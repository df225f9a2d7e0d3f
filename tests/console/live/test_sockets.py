"""The console's sockets at the real server: who may listen, and what they hear."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from socket import create_connection
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.utils import timezone
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from accounts.models import Membership, Project, User
from console.live import broadcaster as broadcasting
from console.live import consumers
from console.live.updates import ENTRIES_LIMIT, Update, View, build_updates
from console.runs.rows import get_live_position
from ledger.models import Run
from tests.browser.sessions import session_cookie
from tests.support.builders import Person, pause_run, start_run, step
from tests.support.live import Live
from tests.support.raw import find_end, get_address, list_ends, look_at
from tests.support.waiting import until

Dial = Callable[..., ClientConnection]


@pytest.fixture
def dial(live: Live, project: Project) -> Iterator[Dial]:
    """Opens a socket as a browser of this person would."""
    with ExitStack() as stack:

        def open_socket(
            person: Person | None, view: str = "queue/", origin: str = live.url
        ) -> ClientConnection:
            headers = {}
            if person is not None:
                cookie = session_cookie(person.user)
                headers["Cookie"] = f"{settings.SESSION_COOKIE_NAME}={cookie}"
            address = live.url.replace("http", "ws", 1)
            socket = connect(
                f"{address}/ws/p/{project.slug}/{view}",
                additional_headers=headers,
                origin=Origin(origin),
                compression=None,
            )
            stack.enter_context(socket)
            return socket

        yield open_socket


def resume(socket: ClientConnection, since: int) -> None:
    socket.send(json.dumps({"type": "resume", "since": since}))


def heard(socket: ClientConnection, *, timeout: float = 60) -> str:
    message = socket.recv(timeout=timeout)
    assert isinstance(message, str)
    return message


def close_code(socket: ClientConnection) -> int:
    with pytest.raises(ConnectionClosed) as closed:
        socket.recv(timeout=60)
    assert closed.value.rcvd is not None
    return closed.value.rcvd.code


def test_a_page_hears_what_came_after_its_cursor(
    dial: Dial, project: Project, alice: Person, agent: httpx.Client
) -> None:
    earlier = pause_run(agent, start_run(agent))["review"]["id"]
    since = get_live_position(project_id=project.pk)
    socket = dial(alice)
    resume(socket, since)
    later = pause_run(agent, start_run(agent))["review"]["id"]
    message = heard(socket)
    while f"review-{later}" not in message:
        message = heard(socket)
    assert f"review-{earlier}" not in message
    assert 'hx-target="#queue" hx-swap="rowsync"' in message
    assert f'data-touched="{later}"' in message
    assert message.rstrip().endswith("</hx-partial>")


def test_who_changed_what_is_told_to_those_who_see_all(
    dial: Dial, project: Project, alice: Person, bob: Person, admin: httpx.Client
) -> None:
    admin.patch("/project", json={"name": "First"})
    chain = Run.objects.get(project=project, intent="system-settings")
    assert close_code(dial(bob, f"runs/{chain.code}/")) == 4404
    socket = dial(alice, f"runs/{chain.code}/")
    resume(socket, get_live_position(project_id=project.pk))
    admin.patch("/project", json={"name": "Second"})
    assert "Second" in heard(socket)


def test_each_change_is_told_once(
    dial: Dial, project: Project, alice: Person, agent: httpx.Client
) -> None:
    """A page that has taken one change in stands behind it."""
    socket = dial(alice)
    resume(socket, get_live_position(project_id=project.pk))
    told: list[str] = []
    reviews = []
    for _ in range(3):
        reviews.append(pause_run(agent, start_run(agent))["review"]["id"])
        told.append(heard(socket))
        while f"review-{reviews[-1]}" not in told[-1]:
            told.append(heard(socket))
    for review in reviews:
        assert sum(f"review-{review}" in message for message in told) == 1


def test_a_page_that_was_away_hears_all_of_it_at_once(
    dial: Dial, project: Project, alice: Person, agent: httpx.Client
) -> None:
    since = get_live_position(project_id=project.pk)
    reviews = [pause_run(agent, start_run(agent))["review"]["id"] for _ in range(3)]
    socket = dial(alice)
    resume(socket, since)
    message = heard(socket)
    assert all(f"review-{review}" in message for review in reviews)
    assert f'data-since="{get_live_position(project_id=project.pk)}"' in message


def test_a_cursor_too_far_behind_or_of_another_database_fetches_its_list_anew(
    project: Project, agent: httpx.Client
) -> None:
    pause_run(agent, start_run(agent))
    view = View(project_id=project.pk, name="queue")
    here = get_live_position(project_id=project.pk)
    for since in (here - ENTRIES_LIMIT - 1, here + 1):
        text = build_updates([(view, since)])[view, since].text
        assert 'data-touched="*"' in text  # upon which the list fetches itself
        assert 'hx-target="#queue-counts"' in text
    assert build_updates([(view, here)]) == {}


def test_news_is_rendered_once_for_all_who_stand_at_the_same_place(
    dial: Dial,
    project: Project,
    alice: Person,
    bob: Person,
    agent: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    since = get_live_position(project_id=project.pk)
    rendered: list[tuple[View, int]] = []

    def counted(wanted: set[tuple[View, int]]) -> dict[tuple[View, int], Update]:
        found = build_updates(wanted)
        rendered.extend(key for key in found if key[0].project_id == project.pk)
        return found

    monkeypatch.setattr(broadcasting, "build_updates", counted)
    sockets = [dial(person) for person in (alice, bob, alice, bob)]
    for socket in sockets:
        resume(socket, since)
    run = start_run(agent)
    messages = {heard(socket) for socket in sockets}
    assert len(messages) == len(set(rendered)) == 1
    agent.post(f"/runs/{run}/steps", json=step(1))
    assert len({heard(socket) for socket in sockets}) == 1


def test_runs_and_the_page_of_a_run_have_their_own_updates(
    dial: Dial, project: Project, alice: Person, agent: httpx.Client
) -> None:
    run = start_run(agent)
    since = get_live_position(project_id=project.pk)
    listing, page = dial(alice, "runs/"), dial(alice, f"runs/{run}/")
    for socket in (listing, page):
        resume(socket, since)
    agent.post(f"/runs/{run}/steps", json=step(1, summary="Read the test"))
    assert f'id="run-{run}"' in heard(listing)
    told = heard(page)
    assert "Read the test" in told
    assert 'id="run-side"' in told


def test_another_run_s_news_leaves_the_page_of_a_run_as_it_is(
    dial: Dial, project: Project, alice: Person, agent: httpx.Client
) -> None:
    page = dial(alice, f"runs/{start_run(agent)}/")
    resume(page, get_live_position(project_id=project.pk))
    start_run(agent)
    told = heard(page)
    assert "#timeline" not in told
    assert 'id="fleet"' in told


def test_without_a_session_the_socket_says_so(dial: Dial) -> None:
    assert close_code(dial(None)) == 4401


def test_what_comes_after_the_close_is_not_answered() -> None:
    """A second close would be an error in the server's log, written by a stranger."""
    arriving: list[dict[str, Any]] = [
        {"type": "websocket.connect"},
        {"type": "websocket.receive", "text": "hello"},
        {"type": "websocket.receive", "text": '{"type": "resume", "since": 0}'},
        {"type": "websocket.receive", "bytes": b"again"},
        {"type": "websocket.disconnect", "code": 1005},
    ]
    sent: list[tuple[str, int | None]] = []

    async def receive() -> dict[str, Any]:
        return arriving.pop(0)

    async def send(message: dict[str, Any]) -> None:
        sent.append((message["type"], message.get("code")))

    scope = {"type": "websocket", "user": AnonymousUser(), "session": SessionStore()}
    socket: Any = consumers.ConsoleConsumer.as_asgi()
    asyncio.run(socket(scope, receive, send))
    assert sent == [("websocket.accept", None), ("websocket.close", 4401)]
    assert not arriving


def test_a_one_time_password_opens_no_socket(dial: Dial, bob: Person) -> None:
    User.objects.filter(pk=bob.user.pk).update(must_change_password=True)
    assert close_code(dial(bob)) == 4401


def test_a_foreign_project_does_not_exist(dial: Dial, charlie: Person) -> None:
    assert close_code(dial(charlie)) == 4404


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "https://{host}:{port}",
        "ws://{host}:{port}",
        "{host}:{port}",
        "http://{host}",
        "http://{host}:1",
        "http://{host}:{port}0",
        "http://evil{host}:{port}",
        "http://evil.{host}:{port}",
        "http://evil.example/http://{host}:{port}",
        "http://{host}:{port}.evil.example",
        "http://{host}.evil.example:{port}",
        "http://{host}:{port}/",
        "http://localhost:{port}",
    ],
)
def test_another_origin_is_refused(
    live: Live, dial: Dial, alice: Person, origin: str
) -> None:
    """Scheme, host and port are compared whole, not by how they begin or end."""
    host, port = live.url.removeprefix("http://").split(":")
    with pytest.raises(InvalidStatus) as refused:
        dial(alice, origin=origin.format(host=host, port=port))
    assert refused.value.response.status_code == 403


@pytest.mark.parametrize(
    "frame",
    [
        "hello",
        "[]",
        '{"type": "review.decide"}',
        '{"type": "resume"}',
        '{"type": "resume", "since": -1}',
        '{"type": "resume", "since": true}',
        '{"type": "resume", "since": 1e3}',
        '{"type": "resume", "since": 99999999999999999999}',
        "x" * 300,
        b"\x00",
    ],
)
def test_a_frame_that_is_no_resume_ends_the_socket(
    dial: Dial, alice: Person, frame: str | bytes
) -> None:
    socket = dial(alice)
    socket.send(frame)
    assert close_code(socket) == 4400


def test_the_end_of_a_session_or_membership_ends_the_socket(
    dial: Dial, project: Project, alice: Person, bob: Person
) -> None:
    hers, his = dial(alice), dial(bob)
    for socket in (hers, his):
        resume(socket, get_live_position(project_id=project.pk))
    Membership.objects.filter(user=bob.user, project=project).delete()
    User.objects.filter(pk=alice.user.pk).update(password="!")
    assert close_code(his) == 4404
    assert close_code(hers) == 4401


def test_a_session_that_has_run_out_ends_the_socket(
    dial: Dial, project: Project, alice: Person
) -> None:
    socket = dial(alice)
    resume(socket, get_live_position(project_id=project.pk))
    for session in Session.objects.filter(expire_date__gt=timezone.now()):
        if session.get_decoded().get(SESSION_KEY) == str(alice.user.pk):
            Session.objects.filter(pk=session.pk).update(expire_date=timezone.now())
    assert close_code(socket) == 4401


def test_sockets_count_from_the_moment_they_are_accepted(
    dial: Dial,
    project: Project,
    alice: Person,
    bob: Person,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(broadcasting, "USER_LIMIT", 2)
    silent = [dial(alice) for _ in range(2)]
    assert close_code(dial(alice)) == 4429
    assert dial(bob).ping().wait(timeout=60)  # he has a number of his own
    for socket in silent:
        assert socket.ping().wait(timeout=60)
        socket.close()

    def welcome() -> bool:
        socket = dial(alice)
        with suppress(ConnectionClosed):
            return socket.ping().wait(timeout=60)
        return False

    until(welcome)


def test_sockets_are_limited_in_all_also_those_of_strangers(
    dial: Dial, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broadcasting, "SOCKET_LIMIT", 0)
    assert close_code(dial(alice)) == 4429
    assert close_code(dial(None)) == 4429
    assert close_code(dial(None, "nowhere/")) == 4429


def test_a_socket_that_never_says_where_it_stands_is_closed(
    dial: Dial, project: Project, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "RESUME_SECONDS", 0.5)
    silent, talking = dial(alice), dial(alice)
    resume(talking, get_live_position(project_id=project.pk))
    assert close_code(silent) == 4400
    assert talking.ping().wait(timeout=60)


def test_an_open_socket_has_no_deadline_and_is_forgotten_when_it_ends(
    live: Live, dial: Dial, project: Project, alice: Person
) -> None:
    socket = dial(alice)
    resume(socket, get_live_position(project_id=project.pk))
    assert socket.ping().wait(timeout=60)
    address = socket.local_address
    end = find_end(address)
    with create_connection(get_address(live), timeout=60) as silent:
        for each in (find_end(silent.getsockname()), end):
            look_at(each, later=3600)
        with suppress(ConnectionResetError):
            assert silent.recv(1) == b""
    assert socket.ping().wait(timeout=60)
    assert list_ends(address) == [end]
    socket.close()
    until(lambda: not list_ends(address))


def test_one_person_holds_a_bounded_number_of_sockets(
    dial: Dial, project: Project, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broadcasting, "USER_LIMIT", 2)
    *held, refused = [dial(alice) for _ in range(3)]
    for socket in held:
        resume(socket, get_live_position(project_id=project.pk))
        assert socket.ping().wait(timeout=60)
    with suppress(ConnectionClosed):  # it may be gone before we say anything
        resume(refused, get_live_position(project_id=project.pk))
    assert close_code(refused) == 4429
