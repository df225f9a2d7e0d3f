"""Requests that wait go past httpx: what they send, and what they make of answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import httpx
import pytest
from checkrail.transport.connection import Connection, build_connection
from checkrail.transport.effects import NoResponse, Request, get
from checkrail.transport.plain_http import find_address, read_response
from checkrail.transport.pools import AsyncPool
from hypothesis import given
from hypothesis import strategies as st

BODY = b'{"state": "ruled"}'
PLAIN = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\ncontent-length: 18\r\n\r\n"
)
PIECES = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
CHUNKED = PIECES + b"5\r\n" + BODY[:5] + b"\r\nd\r\n" + BODY[5:] + b"\r\n0\r\n\r\n"
WITHOUT_LENGTH = b"HTTP/1.1 200 OK\r\nretry-after: 3\r\n\r\n" + BODY
CONTINUED = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n"
WHOLE = [PLAIN + BODY, CHUNKED, CONTINUED + PLAIN + BODY, CONTINUED + CHUNKED]

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def open_server(serve: Serve) -> AsyncIterator[str]:
    serving: set[asyncio.Task[None]] = set()

    async def answer(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        serving.add(task)
        try:
            with suppress(asyncio.IncompleteReadError):  # it was hung up
                await serve(reader, writer)
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.close()
        await asyncio.gather(*serving)


def connect(url: str, *, read_timeout: float = 5.0) -> Connection:
    return build_connection(url, "crk_x", name="KEY", read_timeout=read_timeout)


def build_wait(seconds: float = 5.0) -> Request:
    return get("/runs/7/decision", {"wait": "3", "review": "a b"}, read_seconds=seconds)


@pytest.mark.parametrize("whole", WHOLE)
def test_an_answer_is_read_as_soon_as_its_last_byte_is_there(whole: bytes) -> None:
    for end in range(1, len(whole)):
        assert read_response(whole[:end]) is None, end
    received = read_response(whole)
    assert received is not None
    assert (received.response.status, received.response.body) == (200, BODY)


def test_an_answer_without_a_length_ends_with_its_connection() -> None:
    assert read_response(WITHOUT_LENGTH) is None
    received = read_response(WITHOUT_LENGTH, closed=True)
    assert received is not None
    assert received.response.body == BODY
    assert received.response.retry_after == 3.0
    assert not received.keeps_open


@pytest.mark.parametrize("whole", WHOLE)
def test_half_an_answer_is_none(whole: bytes) -> None:
    for end in range(1, len(whole)):
        with pytest.raises(ValueError, match=r"HTTP/1\.1|closed"):
            read_response(whole[:end], closed=True)


@pytest.mark.parametrize(
    "odd",
    [
        b"SSH-2.0-OpenSSH_9\r\n\r\n",
        b"HTTP/1.1 2x0 OK\r\ncontent-length: 0\r\n\r\n",
        b"<html>\r\n\r\n",
    ],
)
def test_what_is_no_http_is_no_answer(odd: bytes) -> None:
    with pytest.raises(ValueError, match="no answer in HTTP"):
        read_response(odd)


def test_two_lengths_are_never_taken_for_a_whole_answer_that_goes_on() -> None:
    twice = PLAIN.replace(b"\r\n\r\n", b"\r\ncontent-length: 2\r\n\r\n") + BODY
    received = read_response(twice)
    assert received is None or not received.keeps_open


@given(
    status=st.sampled_from([200, 202, 400, 409, 503]),
    body=st.binary(max_size=60),
    headers=st.dictionaries(
        st.from_regex(r"x-[a-z]{1,8}", fullmatch=True),
        st.from_regex(r"[!-~]([ -~]{0,8}[!-~])?", fullmatch=True),
        max_size=4,
    ),
)
def test_answers_are_read_as_httpx_reads_them(
    status: int, body: bytes, headers: dict[str, str]
) -> None:
    lines = [f"{name}: {value}" for name, value in headers.items()]
    head = [f"HTTP/1.1 {status} X", *lines, f"content-length: {len(body)}", "", ""]
    received = read_response("\r\n".join(head).encode() + body)
    headers = {**headers, "content-length": str(len(body))}
    expected = httpx.Response(status, headers=headers, content=body)
    assert received is not None
    found = received.response
    assert (found.status, found.body) == (expected.status_code, expected.content)
    assert found.headers == dict(expected.headers)


async def test_a_wait_says_what_every_request_says_and_keeps_its_connection() -> None:
    heads: list[list[str]] = []
    connections = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        while head := await reader.readuntil(b"\r\n\r\n"):
            heads.append(head.decode().split("\r\n"))
            writer.write(PLAIN + BODY)

    async with open_server(serve) as url:
        pool = AsyncPool(connect(url), None)
        for _ in range(3):
            response = await pool.send(build_wait())
            assert json.loads(response.body) == {"state": "ruled"}
        await pool.close()
    first = heads[0]
    assert first[0] == "GET /api/v1/runs/7/decision?wait=3&review=a+b HTTP/1.1"
    assert f"Host: {url.removeprefix('http://')}" in first
    assert "Authorization: Bearer crk_x" in first
    assert "Accept: application/json" in first
    assert any(line.startswith("User-Agent: checkrail-python/") for line in first)
    assert (connections, len(heads)) == (1, 3)


async def test_many_wait_at_once_and_each_has_its_own_answer() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        number = head.split(b" ")[1].split(b"/")[4]
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(number))
        writer.write(number)

    async with open_server(serve) as url:
        pool = AsyncPool(connect(url), None)
        asked = [get(f"/runs/{number}/x", read_seconds=5.0) for number in range(30)]
        found = await asyncio.gather(*map(pool.send, asked))
        assert [int(each.body) for each in found] == [*range(30)]
        await pool.close()


async def test_no_answer_is_said_so() -> None:
    async def hang_up(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(PLAIN + BODY[:4])
        writer.close()

    async with open_server(hang_up) as url:
        with pytest.raises(NoResponse, match="closed in the middle"):
            await AsyncPool(connect(url), None).send(build_wait())
    with pytest.raises(NoResponse):  # nobody listens there any more
        await AsyncPool(connect(url), None).send(build_wait())


async def test_an_answer_that_is_late_is_none_and_its_connection_is_closed() -> None:
    closed = asyncio.Event()

    async def be_silent(
        reader: asyncio.StreamReader, _writer: asyncio.StreamWriter
    ) -> None:
        await reader.read(-1)
        closed.set()

    async with open_server(be_silent) as url:
        pool = AsyncPool(connect(url), None)
        with pytest.raises(NoResponse, match="late"):
            await pool.send(build_wait(0.01))
        await closed.wait()


async def test_a_wait_that_is_cancelled_leaves_no_connection() -> None:
    asked, closed = asyncio.Event(), asyncio.Event()

    async def be_silent(
        reader: asyncio.StreamReader, _writer: asyncio.StreamWriter
    ) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asked.set()
        await reader.read(-1)
        closed.set()

    async with open_server(be_silent) as url:
        pool = AsyncPool(connect(url), None)
        waiting = asyncio.create_task(pool.send(build_wait()))
        await asked.wait()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await closed.wait()


async def test_a_connection_that_the_server_has_closed_is_not_used_again() -> None:
    closed = asyncio.Event()

    async def answer_once(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(PLAIN + BODY)
        writer.close()
        await writer.wait_closed()
        closed.set()

    async with open_server(answer_once) as url:
        pool = AsyncPool(connect(url), None)
        for _ in range(3):
            assert (await pool.send(build_wait())).body == BODY
            await closed.wait()
            closed.clear()
            assert pool._waits is not None
            async with asyncio.timeout(60):
                while any(each.is_fresh() for each in pool._waits._idle):
                    await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("url", "prefix", "name"),
    [
        ("http://rail.invalid", "/api/v1", "rail.invalid"),
        ("https://rail.invalid:443/x/api/v1", "/x/api/v1", "rail.invalid"),
        ("http://[::1]:8000", "/api/v1", "[::1]:8000"),
    ],
)
def test_the_address_is_the_connections(url: str, prefix: str, name: str) -> None:
    address = find_address(connect(url))
    assert address is not None
    assert (address.prefix, address.name) == (prefix, name)
    assert address.is_encrypted == url.startswith("https:")


@pytest.mark.parametrize(
    "url",
    ["http://a:b@rail.invalid", "http://rail.invalid:99999", "http://räil.invalid"],
)
def test_an_unusual_address_is_left_to_httpx(url: str) -> None:
    assert find_address(connect(url)) is None


def test_a_proxy_is_left_to_httpx(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.invalid:3128")
    assert find_address(connect("https://rail.invalid")) is None
