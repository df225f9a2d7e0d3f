"""Updates for the browsers connected to this process.

One receiver per process hears nudges, reads and renders once per (view, cursor) and
sends the same string to every socket that stands there. A nudge carries no content:
losing it costs at most `RECHECK_SECONDS`. A slow socket is skipped while it sends and
served later from its own cursor, so nothing queues up for it.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from time import monotonic
from typing import Any, Protocol

from channels.layers import get_channel_layer

from console.live.cross_process import GROUP
from console.live.updates import View, build_updates
from ledger.models import ProjectHead
from ledger.waiting.hub import get_hub
from ledger.waiting.per_loop import PerLoop
from ledger.writer import Committed, get_writer
from ledger.writer.db_threads import run_in_db_thread
from reviews.open_access import SessionAccess, list_refused_sessions

COALESCE_SECONDS = 0.08
# After a slow rendering the next one waits this many times as long as it took.
REST_FACTOR = 3
# While more and more happens to reviews, it is told less and less often: nobody reads ten
# changes a second, and 500 of them are to arrive as a handful of messages.
REST_SECONDS_PER_CHANGE = 0.1
LONGEST_REST_SECONDS = 2.0
RECHECK_SECONDS = 2.0
ACCESS_SECONDS = 4.0
SEND_SECONDS = 20.0
# The in-memory layer forgets members of a group after a day.
REJOIN_SECONDS = 3_600.0
RETRY_SECONDS = 1.0
CANCEL_SECONDS = 0.5
USER_LIMIT = 20
SOCKET_LIMIT = 2_000

logger = logging.getLogger(__name__)


class Listener(Protocol):
    """A connected page. `since` is what it has on screen."""

    view: View
    access: SessionAccess
    since: int
    sending: bool

    async def push(self, text: str) -> None: ...

    async def end(self, code: int) -> None: ...


class Broadcaster:
    """Lives on one event loop; get it with `get_broadcaster()`."""

    def __init__(
        self,
        *,
        recheck_seconds: float = RECHECK_SECONDS,
        access_seconds: float = ACCESS_SECONDS,
    ) -> None:
        self._recheck_seconds = recheck_seconds
        self._access_seconds = access_seconds
        self._listeners: dict[int, set[Listener]] = {}
        self._sockets: Counter[int | None] = Counter()
        self._due: set[int] = set()
        self._sent_positions: dict[int, int] = {}
        self._flushes: dict[int, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._running = False
        self._stop_listening: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Begin to listen; safe to call again. Joining a socket calls it too."""
        if self._running:
            return
        self._running = True
        loop = asyncio.get_running_loop()

        def on_commit(commit: Committed) -> None:
            loop.call_soon_threadsafe(self.nudge, commit.projects)

        self._stop_listening = get_writer().listen(on_commit)
        for work in (self._receive, self._recheck, self._check_access):
            self._spawn(self._run_forever(work))

    async def stop(self) -> None:
        self._running = False
        self._stop_listening()
        while tasks := [task for task in self._tasks if not task.done()]:
            for task in tasks:
                task.cancel()
            # The channel layer swallows this while it connects: it is told again.
            await asyncio.wait(tasks, timeout=CANCEL_SECONDS)
        self._listeners.clear()
        self._flushes.clear()

    @contextmanager
    def count_socket(self, user_id: int | None) -> Iterator[bool]:
        """Around the whole life of a socket, a stranger's too. False when it is one too
        many: for this person, or for this process."""
        room = self._sockets.total() < SOCKET_LIMIT and (
            user_id is None or self._sockets[user_id] < USER_LIMIT
        )
        self._sockets[user_id] += 1
        try:
            yield room
        finally:
            self._sockets[user_id] -= 1
            if not self._sockets[user_id]:
                del self._sockets[user_id]

    def join(self, listener: Listener) -> None:
        self.start()
        self._listeners.setdefault(listener.view.project_id, set()).add(listener)
        self._flush_soon(listener.view.project_id, wait=0.0)

    def leave(self, listener: Listener) -> None:
        project_id = listener.view.project_id
        listeners = self._listeners.get(project_id, set())
        listeners.discard(listener)
        if not listeners:
            self._listeners.pop(project_id, None)
            self._sent_positions.pop(project_id, None)

    def nudge(self, project_ids: Iterable[int]) -> None:
        """Something was committed. Call on the loop; from a thread, hop first."""
        for project_id in project_ids:
            if project_id in self._listeners:
                self._flush_soon(project_id, wait=COALESCE_SECONDS)

    def _list_listeners(self) -> list[Listener]:
        return [item for group in self._listeners.values() for item in group]

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _run_forever(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        while self._running:
            try:
                await work()
            except Exception:
                # The database or the layer is away: the screen is late, not wrong.
                logger.exception("%s failed, trying again", work.__name__)
                await asyncio.sleep(RETRY_SECONDS)

    async def _receive(self) -> None:
        layer = get_channel_layer()
        assert layer is not None  # the settings name one in both profiles
        channel = await layer.new_channel()
        joined = -REJOIN_SECONDS
        while True:
            if monotonic() - joined >= REJOIN_SECONDS:
                await layer.group_add(GROUP, channel)
                joined = monotonic()
            try:
                async with asyncio.timeout(REJOIN_SECONDS):
                    message = await layer.receive(channel)
            except TimeoutError:
                continue
            self.nudge(message.get("projects", ()))
            get_hub().nudge()  # programs follow runs as browsers follow projects

    async def _recheck(self) -> None:
        """One query for all projects on screen: has anybody missed something?"""
        await asyncio.sleep(self._recheck_seconds)
        projects = list(self._listeners)
        if not projects:
            return
        for project_id, position in await run_in_db_thread(
            partial(_list_positions, projects)
        ):
            listeners = self._listeners.get(project_id, ())
            if any(item.since != position for item in listeners):
                self._flush_soon(project_id, wait=0.0)

    async def _check_access(self) -> None:
        """Who was signed out or has left the project is told, and let go."""
        await asyncio.sleep(self._access_seconds)
        listeners = self._list_listeners()
        if not listeners:
            return
        sessions = {item.access for item in listeners}
        refused = await run_in_db_thread(partial(list_refused_sessions, sessions))
        for listener in listeners:
            code = refused.get(listener.access)
            if code is not None:
                self.leave(listener)
                self._spawn(listener.end(code))

    def _flush_soon(self, project_id: int, *, wait: float) -> None:
        self._due.add(project_id)
        if project_id not in self._flushes:
            task = self._spawn(self._flush(project_id, wait))
            self._flushes[project_id] = task

    async def _flush(self, project_id: int, wait: float) -> None:
        try:
            while project_id in self._due:
                await asyncio.sleep(wait)
                self._due.discard(project_id)
                began = monotonic()
                changes = await self._deliver(project_id)
                took = monotonic() - began
                rest = max(REST_FACTOR * took, REST_SECONDS_PER_CHANGE * changes)
                # One read that a busy disk held up must not keep a page in the dark.
                wait = max(COALESCE_SECONDS, min(LONGEST_REST_SECONDS, rest))
        except Exception:
            logger.exception(
                "Updates of a project could not be sent; the re-check will"
            )
        finally:
            self._flushes.pop(project_id, None)

    async def _deliver(self, project_id: int) -> int:
        """Returns how many changes of reviews the largest message tells of."""
        ready = [
            item for item in self._listeners.get(project_id, ()) if not item.sending
        ]
        wanted = {(item.view, item.since) for item in ready}
        found = await run_in_db_thread(partial(build_updates, wanted))
        for listener in ready:
            update = found.get((listener.view, listener.since))
            if update is not None:
                self._sent_positions[project_id] = update.position
                listener.sending = True
                self._spawn(self._send(listener, update.text, position=update.position))
        return max((update.changes for update in found.values()), default=0)

    async def _send(self, listener: Listener, text: str, *, position: int) -> None:
        try:
            async with asyncio.timeout(SEND_SECONDS):
                await listener.push(text)
            listener.since = position
        except Exception as error:
            # Gone, or too slow to be worth waiting for: it comes back with its cursor.
            logger.debug("A page could not be sent what is new: %r", error)
            self.leave(listener)
        finally:
            listener.sending = False
        # Others were sent more while this one was busy: now it is its turn.
        project_id = listener.view.project_id
        if self._sent_positions.get(project_id, position) != position:
            self._flush_soon(project_id, wait=COALESCE_SECONDS)


def _list_positions(projects: list[int]) -> list[tuple[int, int]]:
    heads = ProjectHead.objects.filter(project_id__in=projects)
    return list(heads.values_list("project_id", "position"))


_broadcasters = PerLoop(Broadcaster)


def get_broadcaster() -> Broadcaster:
    """The broadcaster of the running event loop."""
    return _broadcasters.get()
