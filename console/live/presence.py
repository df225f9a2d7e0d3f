"""Who reads which review now, for the pages of the queue.

Each page says what it shows, over its socket; when the socket ends, so does that. A process
tells the others through the channel layer, again and again while anybody reads: what a
process that is gone has said is forgotten after `FORGET_SECONDS`. Nothing of it is stored,
but for claims: they hold while their claimers read.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from time import monotonic
from typing import Any, NamedTuple, Protocol
from uuid import UUID, uuid4

from channels.layers import get_channel_layer
from django.conf import settings
from django.utils.html import format_html

from console.fragments import build_partial
from console.live.updates import View
from console.people import Person
from ledger.chain import format_timestamp
from ledger.waiting.per_loop import PerLoop
from ledger.writer.db_threads import run_in_db_thread
from reviews.teamwork.claims import renew_claims

GROUP = "presence"
COALESCE_SECONDS = 0.2
# How often the others are told again, and claims are looked at.
REPEAT_SECONDS = 10.0
FORGET_SECONDS = 25.0
SEND_SECONDS = 5.0
RETRY_SECONDS = 1.0

logger = logging.getLogger(__name__)


class Reader(Protocol):
    """A connected page of the queue."""

    view: View

    async def push(self, text: str) -> None: ...


class Reading(NamedTuple):
    """What a page shows, and to whom."""

    review: str
    user_id: int
    person: Person


class Told(NamedTuple):
    """What another process has said of a project, and when."""

    at: float
    readings: list[list[str]]
    until: dict[str, str]


class Presence:
    """Lives on one event loop; get it with `get_presence()`."""

    def __init__(self) -> None:
        self._process = uuid4().hex
        self._pages: dict[Reader, Reading | None] = {}
        self._others: dict[tuple[str, int], Told] = {}
        self._until: dict[int, dict[str, str]] = {}
        self._flushes: dict[int, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._running = False

    def read(self, page: Reader, reading: Reading | None) -> None:
        """The page shows this now, or nothing that anybody looks at."""
        self._start()
        if page in self._pages and self._pages[page] == reading:
            return
        self._pages[page] = reading
        self._tell_soon(page.view.project_id)

    def leave(self, page: Reader) -> None:
        if self._pages.pop(page, None) is not None:
            self._tell_soon(page.view.project_id)

    async def stop(self) -> None:
        self._running = False
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._pages.clear()

    def _start(self) -> None:
        if self._running:
            return
        self._running = True
        self._spawn(self._run_forever(self._repeat))
        if not settings.EMBEDDED:
            self._spawn(self._run_forever(self._receive))

    def _spawn(self, work: Any) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _run_forever(self, work: Callable[[], Awaitable[None]]) -> None:
        while self._running:
            try:
                await work()
            except Exception:
                # Who reads what is a courtesy: without it nothing else is wrong.
                logger.exception("Presence failed, trying again")
                await asyncio.sleep(RETRY_SECONDS)

    async def _repeat(self) -> None:
        await asyncio.sleep(REPEAT_SECONDS)
        await self._renew_claims()
        for key, told in [*self._others.items()]:
            if monotonic() - told.at > FORGET_SECONDS:
                del self._others[key]
                self._push_soon(key[1])
        for project_id in {page.view.project_id for page in self._pages}:
            await self._announce(project_id)

    async def _renew_claims(self) -> None:
        readers = {
            (reading.user_id, UUID(reading.review))
            for reading in self._pages.values()
            if reading is not None
        }
        if not readers:
            return
        renewed = await run_in_db_thread(partial(renew_claims, readers))
        for project_id, code, until in renewed:
            times = self._until.setdefault(project_id, {})
            times[str(code)] = format_timestamp(until)
            self._tell_soon(project_id)

    async def _receive(self) -> None:
        layer = get_channel_layer()
        assert layer is not None  # the settings name one in both profiles
        channel = await layer.new_channel()
        await layer.group_add(GROUP, channel)
        while True:
            self.take(await layer.receive(channel))

    def take(self, message: dict[str, Any]) -> None:
        """What another process says."""
        if message["process"] == self._process:
            return
        project_id: int = message["project"]
        key = (message["process"], project_id)
        before = self._others.get(key)
        told = Told(monotonic(), message["readings"], message["until"])
        self._others[key] = told
        if before is None or before[1:] != told[1:]:
            self._push_soon(project_id)

    def _tell_soon(self, project_id: int) -> None:
        self._push_soon(project_id)
        if not settings.EMBEDDED:
            self._spawn(self._announce(project_id))

    async def _announce(self, project_id: int) -> None:
        if settings.EMBEDDED:
            return
        layer = get_channel_layer()
        assert layer is not None
        message = {
            "type": "presence",
            "process": self._process,
            "project": project_id,
            "readings": [*self._list_own(project_id)],
            "until": self._until.get(project_id, {}),
        }
        try:
            await layer.group_send(GROUP, message)
        except Exception as error:
            logger.warning("Who reads what could not be told: %s", error)

    def _push_soon(self, project_id: int) -> None:
        if project_id not in self._flushes:
            self._flushes[project_id] = self._spawn(self._flush(project_id))

    async def _flush(self, project_id: int) -> None:
        await asyncio.sleep(COALESCE_SECONDS)
        self._flushes.pop(project_id, None)
        text = self._build_message(project_id)
        for page in [*self._pages]:
            if page.view.project_id == project_id:
                self._spawn(self._send(page, text))

    async def _send(self, page: Reader, text: str) -> None:
        try:
            async with asyncio.timeout(SEND_SECONDS):
                await page.push(text)
        except Exception as error:
            # Gone, or too slow: it says what it shows again when it is back.
            logger.info("A page could not be told who reads what: %r", error)
            self.leave(page)

    def _list_own(self, project_id: int) -> Iterator[list[str]]:
        for page, reading in self._pages.items():
            if reading is not None and page.view.project_id == project_id:
                person = reading.person
                yield [reading.review, person.code, person.name]

    def _build_message(self, project_id: int) -> str:
        others = [
            told for (_, project), told in self._others.items() if project == project_id
        ]
        until = dict(self._until.get(project_id, {}))
        found = {
            (review, code): name for review, code, name in self._list_own(project_id)
        }
        for told in others:
            found |= {(review, code): name for review, code, name in told.readings}
            until |= told.until
        readers: dict[str, list[dict[str, str]]] = {}
        for (review, code), name in sorted(found.items()):
            person = Person(code=code, name=name)
            shown = {"initials": person.initials, "hue": person.hue}
            readers.setdefault(review, []).append({"code": code, "name": name, **shown})
        drawn = format_html(
            '<i id="readers" data-readers="{}" data-until="{}" hidden></i>',
            json.dumps(readers),
            json.dumps({code: until[code] for code in readers if code in until}),
        )
        return build_partial("#readers", "outerHTML", drawn)


_presences = PerLoop(Presence)


def get_presence() -> Presence:
    """The presence of the running event loop."""
    return _presences.get()
