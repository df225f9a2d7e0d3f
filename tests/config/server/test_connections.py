"""Before a body is read: credentials, length, and what the server itself refuses."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest

from config.server import unread
from tests.support.builders import Robot, start_run
from tests.support.live import Live
from tests.support.raw import exchange, head

MIB = 1_048_576
JSON = "Content-Type: application/json"
CHUNKED = "Transfer-Encoding: chunked"


def chunks(*, total: int) -> Iterator[bytes]:
    """A body in chunks that never ends in a good document."""
    for _ in range(total // 65_536):
        yield b"10000\r\n" + b" " * 65_536 + b"\r\n"
    yield b"0\r\n\r\n"


@pytest.fixture
def key(robo: Robot) -> str:
    return f"Authorization: Bearer {robo.key}"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest of a body that was refused is waited for only for a moment."""
    monkeypatch.setattr(unread, "SILENCE_SECONDS", 0.1)


@pytest.mark.usefixtures("impatient")
def test_a_body_said_to_be_too_long_is_refused_before_it_is_sent(
    live: Live, key: str
) -> None:
    first = head(live, "POST", "/api/v1/runs", key, JSON, f"Content-Length: {MIB + 1}")

    answer = exchange(live, first)

    assert answer.status == 413
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["type"] == "/problems/too-large"
    assert answer.closed


def test_a_body_without_a_length_is_cut_at_the_cap(
    live: Live, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unread, "DISCARD_BYTES", 4 * MIB)
    first = head(live, "POST", "/api/v1/runs", key, JSON, CHUNKED)

    answer = exchange(live, first, chunks(total=60 * MIB))

    assert answer.status == 413
    assert answer.json()["type"] == "/problems/too-large"
    assert answer.closed
    # The rest that was taken lies in the buffers of the two sockets.
    assert answer.sent < 30 * MIB


def test_a_body_that_expects_to_be_asked_for_is_not_asked_for(
    live: Live, key: str
) -> None:
    length = f"Content-Length: {8 * MIB}"
    expect = "Expect: 100-continue"

    answer = exchange(
        live, head(live, "POST", "/api/v1/runs", key, JSON, length, expect)
    )

    assert answer.status == 413
    assert answer.headers["connection"] == "close"


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    "credential",
    ["Authorization: Bearer crk_wrong", "Authorization: Basic eDp5", "X-Nothing: 1"],
)
def test_a_stranger_is_refused_after_the_head(
    live: Live, credential: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unread, "STRANGER_BYTES", 4 * MIB)
    first = head(live, "POST", "/api/v1/runs", credential, JSON, CHUNKED)

    waited = exchange(live, first)
    pushed = exchange(live, first, chunks(total=60 * MIB))

    for answer in (waited, pushed):
        assert answer.status == 401
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.closed
    assert pushed.sent < 30 * MIB


def test_a_body_of_the_largest_size_is_read(
    live: Live, agent: httpx.Client, key: str
) -> None:
    run = start_run(agent)
    body = b'{"number": 1, "tokens": 1, "tool_calls": 1}'.ljust(MIB)
    length = f"Content-Length: {len(body)}"
    first = head(live, "POST", f"/api/v1/runs/{run}/steps", key, JSON, length)

    answer = exchange(live, first, [body])

    assert answer.status == 201
    assert not answer.closed


def test_a_length_beside_chunks_is_refused(live: Live, key: str) -> None:
    first = head(live, "POST", "/api/v1/runs", key, JSON, CHUNKED, "Content-Length: 2")

    answer = exchange(live, first, [b"2\r\n{}\r\n0\r\n\r\n"])

    assert answer.status == 400
    assert answer.closed


@pytest.mark.parametrize("length", ["-1", "x", "1, 2", "1e3", "²"])
def test_a_length_that_is_no_number_is_refused(
    live: Live, key: str, length: str
) -> None:
    first = head(live, "POST", "/api/v1/runs", key, JSON, f"Content-Length: {length}")

    answer = exchange(live, first, [b"{}"])

    assert answer.status in {400, 413}
    assert answer.closed


@pytest.mark.parametrize(
    "headers",
    [
        ["X-Long: " + "x" * 65_536],
        [f"X-{number}: x" for number in range(200)],
        ["X-Return: a\rb"],
        ["X-Nul: a\0b"],
        ["X Y: a"],
    ],
)
def test_a_head_that_is_too_much_is_refused(
    live: Live, key: str, headers: list[str]
) -> None:
    answer = exchange(live, head(live, "GET", "/api/v1/runs", key, *headers))

    assert answer.status in {400, 431}


def test_a_stranger_that_keeps_its_connection_may_use_it_again(live: Live) -> None:
    """A refused GET has no body left on the wire."""
    answer = exchange(live, head(live, "GET", "/api/v1/runs"))

    assert answer.status == 401
    assert not answer.closed


def test_a_caller_that_hangs_up_in_its_body_leaves_nothing(
    live: Live, agent: httpx.Client, key: str
) -> None:
    run = start_run(agent)
    first = head(
        live, "POST", f"/api/v1/runs/{run}/steps", key, JSON, "Content-Length: 43"
    )
    url = urlsplit(live.url)
    with socket.create_connection((url.hostname or "", url.port or 0)) as link:
        link.sendall(first + b'{"number": 1, "tokens": 1, "tool_calls"')

    assert agent.get(f"/runs/{run}").json()["steps"] == 0
