"""Who waits for which run, in this process.

A waiter costs one asyncio future: no thread, no poll, no channel group. The writer
wakes the hub after its own commits, PostgreSQL's LISTEN after those of other
processes, and a slow re-check of all waiting runs covers a message that was lost.
What a ruling of this process says comes with its commit (`Committed.waiter_answer`);
after any other wake-up the database is read. After its own commits the writer does that,
for the few who wait for that run, before it turns to anything else: an agent that wakes
shares the processor with nobody then, and a person's answer does not queue behind the page
that the person gets.

Most waiters wait for a person, and are woken by what a person may have done. Followers
want every entry: of this process's commits they hear all, of other processes' plain
steps, which are too many to LISTEN for, through a re-check that a nudge brings forward.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from django.db import connection

from ledger.waiting.halts import HaltWatch, RunFacts, get_versions
from ledger.waiting.per_loop import PerLoop
from ledger.waiting.pg_listen import receive_notifications
from ledger.writer import Committed, get_writer, sql
from ledger.writer.db_threads import run_in_db_thread

RECHECK_SECONDS = 3.0
NUDGE_SECONDS = 0.05
# After a commit the writer looks for no more than these: the others read for themselves
# (bench waking, as for the next two).
LOOKS = 4
# And gives them as long to be gone before it answers whoever sent the change request.
TELL_SECONDS = 0.002
# So many turns of the event loop a waiter takes until its answer is sent.
TURNS = 6

logger = logging.getLogger(__name__)

T = TypeVar("T")
# Given the commit that it is about, which may say all that is to be known.
Look = Callable[[Committed | None], T]
Waiting = dict[int, set[asyncio.Future[Any]]]


class Hub:
    def __init__(self, *, recheck_seconds: float = RECHECK_SECONDS) -> None:
        self._recheck_seconds = recheck_seconds
        self._waiters: Waiting = {}
        self._followers: Waiting = {}
        self._looks: dict[asyncio.Future[Any], Look[Any]] = {}
        # Of waiters and followers that are told of halts: whether one held them.
        self._held: dict[asyncio.Future[Any], tuple[RunFacts, bool]] = {}
        self.halts = HaltWatch()
        self._loop = asyncio.get_running_loop()
        self._heads: dict[int, int] = {}
        self._nudged = asyncio.Event()
        self.closing = False
        self._stop_listening = get_writer().listen(self._on_commit, first=True)
        self._tasks: list[asyncio.Task[None]] = [
            self._loop.create_task(self._recheck())
        ]
        if connection.vendor == "postgresql":
            self._tasks.append(self._loop.create_task(self._listen()))

    def add_waiter(self, run_id: int, look: Look[T] | None) -> asyncio.Future[T | None]:
        """A future that is done at the run's next change. Take it before reading.

        Its result is what `look` found after the commit, or None: then look yourself.
        """
        future = self._enter(self._waiters, run_id)
        if look is not None:
            self._looks[future] = look
        return future

    def add_follower(self, run_id: int) -> asyncio.Future[None]:
        """The same, but done at the run's next entry, whatever it is."""
        return self._enter(self._followers, run_id)

    def wake_when_held_otherwise(
        self, future: asyncio.Future[Any], facts: RunFacts, *, held: bool
    ) -> None:
        """It is also done when a halt begins to hold its run, or when none does any more.
        `held` is how it stands by `halts`, asked without a pause in between."""
        self._held[future] = (facts, held)

    def note_head(self, run_id: int, head_seq: int) -> None:
        """The head a waiter has read: the re-check wakes it if that has moved."""
        if run_id in self._waiters or run_id in self._followers:
            known = self._heads.get(run_id, head_seq)
            self._heads[run_id] = min(known, head_seq)

    def count_waiting(self, run_id: int) -> int:
        if run_id not in self._heads:
            return 0
        waiting = (self._waiters.get(run_id, ()), self._followers.get(run_id, ()))
        return sum(map(len, waiting))

    @property
    def waiting(self) -> int:
        return sum(map(len, self._waiters.values()))

    def wake(self, run_ids: Iterable[int]) -> None:
        for run_id in run_ids:
            _end(self._waiters.get(run_id, ()))
            _end(self._followers.get(run_id, ()))

    def nudge(self) -> None:
        """Another process has written something: do the next re-check now."""
        if self._followers:
            self._nudged.set()

    def release(self) -> None:
        """The server is about to stop: nobody waits any longer."""
        self.closing = True
        self.wake([*self._waiters, *self._followers])

    async def close(self) -> None:
        self._stop_listening()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.release()

    def _enter(self, waiting: Waiting, run_id: int) -> asyncio.Future[Any]:
        future: asyncio.Future[Any] = self._loop.create_future()
        waiting.setdefault(run_id, set()).add(future)
        future.add_done_callback(partial(self._forget, waiting, run_id))
        return future

    def _forget(
        self, waiting: Waiting, run_id: int, future: asyncio.Future[Any]
    ) -> None:
        self._looks.pop(future, None)
        self._held.pop(future, None)
        futures = waiting.get(run_id)
        if futures is not None:
            futures.discard(future)
            if not futures:
                del waiting[run_id]
        if run_id not in self._waiters and run_id not in self._followers:
            self._heads.pop(run_id, None)

    def _on_commit(self, commit: Committed) -> None:
        """On the writer's thread, which everybody waits for: a few short looks at most."""
        for project_id in commit.halts_changed:
            self._loop.call_soon_threadsafe(self._change_halts, project_id)
        if commit.waited_run_ids:
            found = self._look_for(commit)
            told = threading.Event()
            self._loop.call_soon_threadsafe(
                self._answer_waiters, found, commit.waited_run_ids, told
            )
            if found:
                # Whoever sent this change request gets the answer after those who wait for it.
                told.wait(TELL_SECONDS)
        followed = [run for run in commit.changed_run_ids if run in self._followers]
        if followed:
            self._loop.call_soon_threadsafe(self._wake_followers, followed)

    def _look_for(self, commit: Committed) -> list[tuple[asyncio.Future[Any], Any]]:
        waiting = (
            each
            for run in commit.waited_run_ids
            for each in [*self._waiters.get(run, ())]
        )
        found = []
        for future in islice(waiting, LOOKS):
            look = self._looks.get(future)
            if look is not None:
                try:
                    found.append((future, look(commit)))
                except Exception:
                    # Refused or failed: the waiter finds out by itself, and says so.
                    logger.debug("A look for a waiter failed", exc_info=True)
        return found

    def _answer_waiters(
        self,
        found: Iterable[tuple[asyncio.Future[Any], Any]],
        run_ids: Iterable[int],
        told: threading.Event,
    ) -> None:
        for future, answer in found:
            if not future.done():
                future.set_result(answer)
        self.wake(run_ids)
        self._call_after_turns(TURNS, told.set)

    def _call_after_turns(self, turns: int, then: Callable[[], None]) -> None:
        if turns:
            self._loop.call_soon(self._call_after_turns, turns - 1, then)
        else:
            then()

    def _wake_followers(self, run_ids: Iterable[int]) -> None:
        for run_id in run_ids:
            _end(self._followers.get(run_id, ()))

    def _change_halts(self, project_id: int) -> None:
        self.halts.drop(project_id)
        task = self._loop.create_task(self._tell_of_halts(project_id))
        self._tasks.append(task)
        task.add_done_callback(self._tasks.remove)

    async def _tell_of_halts(self, project_id: int) -> None:
        """Wake those for whom it makes a difference; the halts are read once for all."""
        halts = None
        try:
            halts = await self.halts.get(project_id)
        except Exception:
            # Everybody is woken, then, and asks for itself.
            logger.exception("The halts of a project could not be read")
        for future, (facts, held) in [*self._held.items()]:
            if facts.project_id == project_id and (
                halts is None or (halts.find(facts) is not None) != held
            ):
                _end([future])

    async def _recheck_halts(self) -> None:
        projects = self.halts.list_projects()
        if projects:
            versions = await run_in_db_thread(partial(get_versions, projects))
            for project_id in self.halts.list_changed(versions):
                self._change_halts(project_id)

    async def _recheck(self) -> None:
        """One query for all waiting runs: whose head is not the one that was read?"""
        while True:
            await asyncio.sleep(NUDGE_SECONDS)
            with suppress(TimeoutError):
                async with asyncio.timeout(self._recheck_seconds - NUDGE_SECONDS):
                    await self._nudged.wait()
            self._nudged.clear()
            waiting = [*{*self._waiters, *self._followers}]
            if not waiting:
                continue
            try:
                await self._recheck_halts()
                heads = await run_in_db_thread(partial(_get_heads, waiting))
            except Exception:
                logger.exception("The waiting runs could not be re-checked")
                continue
            moved = [run for run in heads if self._heads.get(run) != heads[run]]
            for run in moved:
                self._heads.pop(run, None)
            self.wake(moved)

    async def _listen(self) -> None:
        async for told in receive_notifications():
            if told is None:
                for project_id in self.halts.list_projects():
                    self.halts.drop(project_id)
                self.wake([*self._waiters, *self._followers])
            elif told.session != get_writer().session:
                self.wake(told.runs)
                if told.halts is not None:
                    self._change_halts(told.halts)


def _end(futures: Iterable[asyncio.Future[Any]]) -> None:
    for future in list(futures):
        if not future.done():
            future.set_result(None)


_PG_HEADS = "SELECT id, head_seq FROM ledger_run WHERE id = ANY(%s::bigint[])"
_SQLITE_HEADS = (
    "SELECT id, head_seq FROM ledger_run WHERE id IN (SELECT value FROM json_each(%s))"
)


def _get_heads(run_ids: list[int]) -> dict[int, int]:
    """By one parameter: the ORM would write thousands, for longer than an agent waits for
    its answer (bench waiting)."""
    text = _PG_HEADS if connection.vendor == "postgresql" else _SQLITE_HEADS
    return dict(sql.execute(text, [sql.format_ids(run_ids)]))


def count_waiting(run_id: int) -> int:
    """How many wait for a run in this process, whatever their event loop.

    They count once they have read the run's head: from then on no change escapes them.
    """
    return sum(each.count_waiting(run_id) for each in _hubs.list_all())


def count_all_waiting() -> int:
    """Count the requests that wait in this process, whatever for."""
    return sum(each.waiting for each in _hubs.list_all())


_hubs = PerLoop(Hub)


def get_hub() -> Hub:
    """The hub of the running event loop."""
    return _hubs.get()


async def close_hub() -> None:
    found = _hubs.pop()
    if found is not None:
        await found.close()
