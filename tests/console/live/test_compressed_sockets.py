"""What goes over the sockets of browsers is compressed, within the limits of a frame."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx
import pytest
from django.conf import settings
from websockets.exceptions import ConnectionClosed
from websockets.extensions.permessage_deflate import (
    ClientPerMessageDeflateFactory,
    PerMessageDeflate,
)
from websockets.frames import Frame
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from accounts.models import Project
from config.embedded import SOCKET_FRAME_LIMIT
from console.runs.rows import get_live_position
from tests.browser.sessions import session_cookie
from tests.support.builders import Person, pause_run, start_run
from tests.support.live import Live


@pytest.fixture
def socket(live: Live, project: Project, alice: Person) -> Iterator[ClientConnection]:
    """A socket as browsers open it: they offer to compress."""
    cookie = f"{settings.SESSION_COOKIE_NAME}={session_cookie(alice.user)}"
    opened = connect(
        f"{live.url.replace('http', 'ws', 1)}/ws/p/{project.slug}/queue/",
        additional_headers={"Cookie": cookie},
        origin=Origin(live.url),
        compression=None,
        extensions=[ClientPerMessageDeflateFactory(client_max_window_bits=True)],
    )
    with opened:
        yield opened


def test_updates_arrive_compressed(
    socket: ClientConnection,
    project: Project,
    agent: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes: list[tuple[int, int]] = []
    decode = PerMessageDeflate.decode

    def note_sizes(
        self: PerMessageDeflate, frame: Frame, *, max_size: int | None = None
    ) -> Frame:
        shown = decode(self, frame, max_size=max_size)
        sizes.append((len(frame.data), len(shown.data)))
        return shown

    monkeypatch.setattr(PerMessageDeflate, "decode", note_sizes)
    since = get_live_position(project_id=project.pk)
    socket.send(json.dumps({"type": "resume", "since": since}))
    review = pause_run(agent, start_run(agent))["review"]["id"]
    message = socket.recv(timeout=60)
    while f"review-{review}" not in str(message):
        message = socket.recv(timeout=60)
    size = len(str(message).encode())
    sent = next(sent for sent, shown in sizes if shown == size)
    assert sent < size / 2


def test_a_frame_that_is_large_only_when_it_is_unpacked_is_refused(
    socket: ClientConnection,
) -> None:
    socket.send("x" * (SOCKET_FRAME_LIMIT + 1))  # some hundred bytes on the way
    with pytest.raises(ConnectionClosed) as closed:
        socket.recv(timeout=60)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1009
