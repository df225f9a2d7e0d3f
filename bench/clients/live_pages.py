"""Open pages of the queue: what arrives at each of them, when, and how many bytes."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin

from bench.servers.launch import Server

# What says which reviews a message is about, or that it is about all of them.
_TOUCHED = re.compile(r'data-touched="([^"]*)"')
LOOK_SECONDS = 0.02
QUIET_SECONDS = 2.5
WAIT_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    at: float
    size: int
    touched: str

    def names_review(self, review: str) -> bool:
        return self.touched == "*" or review in self.touched


class LivePage:
    """A socket as a browser has one: it says where it stands, and listens."""

    def __init__(self, server: Server, cookie: str) -> None:
        self._server = server
        self._cookie = cookie
        self._socket: ClientConnection | None = None
        self._listening: asyncio.Task[None] | None = None
        self.got: list[Message] = []

    async def open(self) -> None:
        self._socket = await connect(
            f"{self._server.url.replace('http', 'ws', 1)}/ws/p/bench/queue/",
            additional_headers={"Cookie": self._cookie},
            origin=Origin(self._server.url),
            compression=None,
            open_timeout=WAIT_SECONDS,
            max_size=None,
        )
        await self._socket.send(json.dumps({"type": "resume", "since": 0}))
        self._listening = asyncio.create_task(self._listen(self._socket))

    async def _listen(self, socket: ClientConnection) -> None:
        async for message in socket:
            text = str(message)
            found = _TOUCHED.search(text)
            self.got.append(
                Message(
                    at=perf_counter(),
                    size=len(text.encode()),
                    touched=found[1] if found else "",
                )
            )

    async def wait_for(self, review: str) -> Message:
        """The first message since `clear` that tells of this review."""
        async with asyncio.timeout(WAIT_SECONDS):
            while True:
                for message in self.got:
                    if message.names_review(review):
                        return message
                await asyncio.sleep(0.001)

    async def close(self) -> None:
        if self._socket is not None:
            await self._socket.close()
        if self._listening is not None:
            await self._listening


async def open_pages(server: Server, count: int) -> list[LivePage]:
    """As many pages, of all people in turn, each up to date."""
    cookies = server.contents.cookies
    pages = [
        LivePage(server, cookies[number % len(cookies)]) for number in range(count)
    ]
    for page in pages:
        await page.open()
    await wait_until_quiet(pages)
    assert all(page.got for page in pages)
    return pages


async def wait_until_quiet(
    pages: Sequence[LivePage], *, seconds: float = QUIET_SECONDS
) -> None:
    """Until nothing has arrived anywhere for a while."""
    began = perf_counter()
    while True:
        last = max(
            (message.at for page in pages for message in page.got), default=began
        )
        if perf_counter() - max(last, began) > seconds:
            return
        await asyncio.sleep(LOOK_SECONDS)


def clear_pages(pages: Sequence[LivePage]) -> None:
    for page in pages:
        page.got.clear()
