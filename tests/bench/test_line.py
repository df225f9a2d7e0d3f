"""The lean client takes an answer apart however it arrives."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

import pytest

from bench.clients.connection import Response, build_request, connect
from tests.support.rows import each_row

ANSWER = b'HTTP/1.1 201 Created\r\nContent-Length: 11\r\nX-A: b\r\n\r\n{"step": 1}'


@asynccontextmanager
async def answering(pieces: Sequence[bytes]) -> AsyncIterator[str]:
    """A server that sends these pieces one by one, then hangs up."""
    gone = asyncio.Event()

    async def answer(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        await reader.readuntil(b"\r\n\r\n")
        for piece in pieces:
            writer.write(piece)
            await asyncio.sleep(0.01)
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        gone.set()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        await gone.wait()
        await asyncio.sleep(0)  # the client's end closes at the loop's next turn


@each_row("cut", [1, 10, len(ANSWER) - 5, len(ANSWER)])
async def test_an_answer_may_come_in_pieces(cut: int) -> None:
    async with answering([ANSWER[:cut], ANSWER[cut:]]) as url:
        line = await connect(url)
        answer = await line.ask(build_request("GET", "/healthz", url=url))
        line.close()
    assert answer == Response(201, b'{"step": 1}')


async def test_a_hang_up_in_the_middle_is_an_error() -> None:
    async with answering([ANSWER[:20]]) as url:
        line = await connect(url)
        with pytest.raises(ConnectionError):
            await line.ask(build_request("GET", "/healthz", url=url))
