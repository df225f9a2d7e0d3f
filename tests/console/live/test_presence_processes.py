"""Who reads which review, told from one web process to another through real Redis."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from socket import SHUT_RDWR
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.db import connection
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from accounts.models import Project
from console.live import presence as presences
from console.runs.rows import get_live_position
from reviews.models import Reading
from tests.browser.sessions import session_cookie
from tests.support.builders import Person, pause_run, start_run
from tests.support.live import Live
from tests.support.processes import another_web_process

pytestmark = pytest.mark.timeout(180)
WAIT_S = 40


@pytest.fixture
def sockets() -> Iterator[ExitStack]:
    """Closed whatever becomes of the test."""
    if connection.vendor != "postgresql":
        pytest.skip("Web processes of their own need PostgreSQL and Redis.")
    with ExitStack() as stack:
        yield stack


def open_page(
    sockets: ExitStack, live: Live, project: Project, person: Person, review: str | None
) -> ClientConnection:
    """The socket of a page of the queue that shows this review, or none."""
    cookie = f"{settings.SESSION_COOKIE_NAME}={session_cookie(person.user)}"
    page = connect(
        f"{live.url.replace('http', 'ws', 1)}/ws/p/{project.slug}/queue/",
        additional_headers={"Cookie": cookie},
        origin=Origin(live.url),
        compression=None,
        open_timeout=WAIT_S,
    )
    sockets.callback(page.close)
    since = get_live_position(project_id=project.pk)
    page.send(json.dumps({"type": "resume", "since": since}))
    page.send(json.dumps({"type": "reading", "review": review}))
    return page


def wait_for_readers(page: ClientConnection, expected: dict[str, list[str]]) -> None:
    """Until the page is told of these readers and no others."""
    told: Any = None
    while told != expected:
        message = str(page.recv(timeout=WAIT_S))
        found = re.search(r'data-readers="([^"]*)"', message)
        if found is not None:
            readers = json.loads(html.unescape(found[1]))
            told = {code: [it["name"] for it in who] for code, who in readers.items()}


def test_a_reader_at_another_process_is_seen_until_the_page_or_the_process_dies(
    sockets: ExitStack,
    live: Live,
    project: Project,
    alice: Person,
    bob: Person,
    agent: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(presences, "REPEAT_SECONDS", 0.2)
    review = pause_run(agent, start_run(agent))["review"]["id"]
    hers = open_page(sockets, live, project, alice, None)
    wait_for_readers(hers, {})
    his_reading = {review: [bob.user.username]}
    with another_web_process() as other:
        his = open_page(sockets, other.live, project, bob, review)
        wait_for_readers(hers, his_reading)
        told = Reading.objects.get(review__code=review, person=bob.user)
        assert told.shown_at is not None
        his.socket.shutdown(SHUT_RDWR)  # as a browser that was killed: without a word
        wait_for_readers(hers, {})
        open_page(sockets, other.live, project, bob, review)
        wait_for_readers(hers, his_reading)
        other.kill()
    monkeypatch.setattr(presences, "FORGET_SECONDS", 0.5)
    wait_for_readers(hers, {})
