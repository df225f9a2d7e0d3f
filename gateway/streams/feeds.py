"""Runs that are followed in this process: one look for all the streams of a run.

A stream that looked for itself would cost some queries at every entry, and a thousand of
them would keep everybody else waiting. So each followed run has one feed. After a change it
looks once: who may still read, how the run stands, what is new. Then it wakes the streams,
a few at a time and with pauses: what they send takes a small part of the event loop's
time, however many they are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

from gateway.streams.followers import Follower
from ledger.models import Entry, Run
from ledger.selectors import render_ledger_line
from ledger.waiting.halts import RunFacts, get_run_facts
from ledger.waiting.hub import get_hub
from ledger.waiting.per_loop import PerLoop
from ledger.writer.db_threads import run_in_db_thread
from ledger.writer.halts import KnownHalt
from reviews.open_access import Access, list_refused

# A page is some small entries or few large ones.
PAGE_BYTES = 262_144
STRIDE = 16
# So many streams are woken in a row; then they rest so many times as long as that took.
AT_ONCE = 8
REST_FACTOR = 4


class Head(NamedTuple):
    """How a run stands, and how far its ledger goes."""

    status: str
    seq: int
    hash: str


class Page(NamedTuple):
    """Entries behind `after` as events, up to and with `last`."""

    after: int
    last: int
    text: str


class Changes(NamedTuple):
    """What was found in the database at one moment."""

    refused: set[Access]
    head: Head
    new_page: Page | None


class Feed:
    """One run. Lives on one event loop; get it with `follow_feed`."""

    def __init__(self, run_id: int, run_code: str, turns: asyncio.Lock) -> None:
        self.run_id = run_id
        self.run_code = run_code
        self.head: Head | None = None
        self.error: Exception | None = None
        # What holds the run now; told whenever that changes.
        self.halt: KnownHalt | None = None
        self._facts: RunFacts | None = None
        self.followers: set[Follower] = set()
        self.waiting: set[asyncio.Future[None]] = set()
        self._new_page: Page | None = None
        self._pages: dict[int, asyncio.Task[Page]] = {}
        self._turns = turns
        self._loop = asyncio.get_running_loop()
        self._task = self._loop.create_task(self._follow())

    async def wait(self, follower: Follower, *, seconds: float) -> bool:
        """Until something has changed; False when that took too long."""
        changed: asyncio.Future[None] = self._loop.create_future()
        self.waiting.add(changed)
        try:
            return await follower.wait_for(changed, seconds=seconds)
        finally:
            self.waiting.discard(changed)

    async def get_page(self, after: int) -> Page:
        """The next entries, read once for all who ask for them at the same time."""
        if self._new_page is not None and self._new_page.after == after:
            return self._new_page
        reading = self._pages.get(after)
        if reading is None:
            assert self.head is not None  # it is further than `after`
            work = partial(_read_page, self.run_id, self.run_code, after, self.head.seq)
            reading = self._loop.create_task(run_in_db_thread(work))
            self._pages[after] = reading
            reading.add_done_callback(lambda _: self._pages.pop(after, None))
        # One stream that ends must not take it from the others.
        return await asyncio.shield(reading)

    def close(self) -> None:
        self._task.cancel()

    async def _follow(self) -> None:
        try:
            while not get_hub().closing:
                # Taken before the look: what comes in between wakes us.
                changed = await self._look_for_halts()
                wake_up = get_hub().add_follower(self.run_id)
                assert self._facts is not None
                get_hub().wake_when_held_otherwise(
                    wake_up, self._facts, held=self.halt is not None
                )
                try:
                    await self._read_and_wake(changed=changed)
                    await wake_up
                finally:
                    wake_up.cancel()
        except Exception as error:
            self.error = error
        finally:
            _wake([*self.waiting])

    async def _look_for_halts(self) -> bool:
        """Whether the run is held by something else than before."""
        if self._facts is None:
            read = partial(get_run_facts, self.run_id)
            self._facts = await run_in_db_thread(read)
        halts = await get_hub().halts.get(self._facts.project_id)
        before, self.halt = self.halt, halts.find(self._facts)
        return before != self.halt

    async def _read_and_wake(self, *, changed: bool) -> None:
        before = self.head.seq if self.head is not None else None
        readers = {follower.reader for follower in self.followers}
        work = partial(_read_changes, self.run_id, self.run_code, readers, before)
        changes = await run_in_db_thread(work)
        for follower in self.followers:
            if follower.reader in changes.refused:
                follower.refuse()
        self.head, self._new_page = changes.head, changes.new_page
        get_hub().note_head(self.run_id, changes.head.seq)
        if changed or changes.head.seq != before:
            await self._wake_in_turns()

    async def _wake_in_turns(self) -> None:
        """Wake everybody, little by little; all feeds of this loop take turns."""
        waiting = [*self.waiting]
        for first in range(0, len(waiting), AT_ONCE):
            some = waiting[first : first + AT_ONCE]
            async with self._turns:
                began = self._loop.time()
                _wake(some)
                await asyncio.sleep(0)  # in which they send
                await asyncio.sleep((self._loop.time() - began) * REST_FACTOR)


def _wake(waiting: Collection[asyncio.Future[None]]) -> None:
    for future in waiting:
        if not future.done():
            future.set_result(None)


def _read_changes(
    run_id: int, run_code: str, readers: Collection[Access], before: int | None
) -> Changes:
    """Access is checked first: a key revoked before an entry never gets it."""
    refused = list_refused(readers)
    columns = Run.objects.values_list("status", "head_seq", "head_hash")
    head = Head(*columns.get(pk=run_id))
    new_page = None
    if before is not None and head.seq > before:
        new_page = _read_page(run_id, run_code, before, head.seq)
    return Changes(refused, head, new_page)


def _read_page(run_id: int, run_code: str, after: int, until: int) -> Page:
    lines: list[str] = []
    last, size = after, 0
    entries = Entry.objects.filter(run_id=run_id, seq__lte=until).order_by("seq")
    while size < PAGE_BYTES:
        some = list(entries.filter(seq__gt=last)[:STRIDE])
        lines += [_render_event(entry, run_code) for entry in some]
        size += sum(len(entry.payload) for entry in some)
        last = some[-1].seq if some else last
        if len(some) < STRIDE:
            break
    return Page(after, last, "".join(lines))


def _render_event(entry: Entry, run_code: str) -> str:
    line = render_ledger_line(entry, run=run_code)  # one line: JSON has no other
    return f"id: {entry.seq}\nevent: {entry.type}\ndata: {line}\n"


class Feeds:
    def __init__(self) -> None:
        self.open: dict[int, Feed] = {}
        self.turns = asyncio.Lock()

    def join(self, run_id: int, run_code: str, follower: Follower) -> Feed:
        feed = self.open.get(run_id)
        if feed is None or feed.error is not None:
            feed = self.open[run_id] = Feed(run_id, run_code, self.turns)
        feed.followers.add(follower)
        return feed

    def leave(self, feed: Feed, follower: Follower) -> None:
        feed.followers.discard(follower)
        if not feed.followers:
            feed.close()
            if self.open.get(feed.run_id) is feed:
                del self.open[feed.run_id]


_feeds = PerLoop(Feeds)


@contextmanager
def follow_feed(run_id: int, run_code: str, follower: Follower) -> Iterator[Feed]:
    """The run's feed on the running event loop, kept while somebody follows."""
    feeds = _feeds.get()
    feed = feeds.join(run_id, run_code, follower)
    try:
        yield feed
    finally:
        feeds.leave(feed, follower)
