"""A load balancer as small as can be: connections go to those that say they are ready."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import cycle
from urllib.parse import urlsplit

import httpx

ASK_SECONDS = 0.25
# Longer than usual load balancers wait, which is two seconds: the machine may be busy.
PATIENCE = 60.0


class Proxy:
    """Asks each backend for /readyz, again and again. In `left` are those that it took out
    of rotation, each with the reason that it was given."""

    def __init__(self, backends: list[str]) -> None:
        self.url = ""
        self.left: list[str] = []
        self.asked = 0
        self._backends = backends
        self._ready = set(backends)
        self._turns = cycle(backends)
        self._opened = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        with suppress(asyncio.CancelledError):
            asyncio.run(self._serve())

    async def _serve(self) -> None:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        self._end = partial(loop.call_soon_threadsafe, task.cancel)
        server = await asyncio.start_server(self._take, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self._opened.set()
        async with server, httpx.AsyncClient(timeout=PATIENCE) as asker:
            await asyncio.gather(*(self._ask(asker, each) for each in self._backends))

    async def _ask(self, asker: httpx.AsyncClient, backend: str) -> None:
        while True:
            try:
                answer = await asker.get(f"{backend}/readyz")
                told = "" if answer.status_code == 200 else answer.text
            except httpx.HTTPError as error:
                told = repr(error)
            if told and backend in self._ready:
                self.left.append(told)
            (self._ready.discard if told else self._ready.add)(backend)
            self.asked += 1
            await asyncio.sleep(ASK_SECONDS)

    async def _take(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        backend = next(
            (
                each
                for _, each in zip(self._backends, self._turns, strict=False)
                if each in self._ready
            ),
            None,
        )
        if backend is None:
            writer.close()
            return
        address = urlsplit(backend)
        there = await asyncio.open_connection(address.hostname, address.port)
        await asyncio.gather(_pipe(reader, there[1]), _pipe(there[0], writer))


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()


@contextmanager
def balance(*backends: str) -> Iterator[Proxy]:
    proxy = Proxy([*backends])
    proxy._thread.start()
    assert proxy._opened.wait(60)
    try:
        yield proxy
    finally:
        proxy._end()
        proxy._thread.join(timeout=60)
