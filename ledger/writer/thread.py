"""The one writer: every change of every run goes through here.

One thread per process, with a connection of its own. It takes all change requests that wait,
judges each in order against the run's state, stores them with one commit, and answers
only after that commit. While one commit is under way the next batch is judged, of other
runs, so there is no artificial delay. Commands that need a transaction of their own wait in
a line apart, in which their senders take turns: a few of them, then the next batch.

The database stays the only truth: a state remembered here is worth trying, but a refusal
is always judged again on a fresh one, and a write succeeds only if the run's head is
still the one it was built on.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from functools import partial
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, TypeVar

from django.db import InterfaceError, InternalError, OperationalError, connection
from django.db.utils import Error as DatabaseError
from psycopg.errors import LockNotAvailable

from common.errors import Unavailable
from ledger.writer.batch import Committer
from ledger.writer.changes import ChangeRequest
from ledger.writer.fair_queue import FairQueue
from ledger.writer.jobs import Batch, Committed, Job, Judged

T = TypeVar("T")
BATCH_LIMIT = 256
# So long the writer waits for a commit before it looks whether there is more to judge.
PAUSE_SECONDS = 0.001
# So many change requests with a transaction of their own, then those that share one again.
LOCKED_AT_ONCE = 2
QUEUE_LIMIT = 10_000
ATTEMPTS = 5
UNKNOWN = (
    "The database failed: this may or may not have been done. Look before you send it "
    "again, or send it with an Idempotency-Key."
)

logger = logging.getLogger(__name__)

Listener = Callable[[Committed], None]
# What is called with an answer, or with the error that came instead.
Settle = Callable[[Any, BaseException | None], None]
_always: list[Listener] = []


def listen_always(listener: Listener) -> None:
    """Every writer of this process will tell this listener; for apps at start-up."""
    _always.append(listener)


class Writer:
    def __init__(self) -> None:
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._locked_jobs: FairQueue[Job] = FairQueue()
        # The batch that is being stored, what was judged meanwhile, and jobs for its runs.
        self._batch: Batch | None = None
        self._judged: Judged | None = None
        self._held: list[Job] = []
        self._committer = Committer(self._notify_listeners)
        self._listeners = list(_always)
        self._replies: dict[asyncio.AbstractEventLoop, list[Callable[[], None]]] = {}
        self._failing = False
        self._began: float | None = None
        self._thread = threading.Thread(
            target=self._run_forever, name="ledger", daemon=True
        )
        self._thread.start()

    @property
    def thread_id(self) -> int:
        """The system's number for its thread."""
        return self._thread.native_id or 0

    @property
    def session(self) -> int | None:
        """By this number PostgreSQL's notifications tell whose commit it was."""
        return self._committer.session

    @property
    def failing(self) -> bool:
        """Whether the last write failed. What was refused for a good reason is none."""
        return self._failing

    @property
    def busy_seconds(self) -> float:
        """How long the write that is under way has taken by now."""
        began = self._began
        return 0.0 if began is None else monotonic() - began

    @property
    def queue_length(self) -> int:
        """The number of change requests that have not been begun."""
        return self._jobs.qsize() + len(self._locked_jobs)

    def recover(self) -> None:
        """Somebody has seen a write succeed."""
        self._failing = False

    def listen(self, listener: Listener, *, first: bool = False) -> Callable[[], None]:
        """Be told after every commit, on the writer's thread; returns the undo."""
        self._listeners.insert(0 if first else len(self._listeners), listener)
        return lambda: self._listeners.remove(listener)

    async def perform(self, request: ChangeRequest[T]) -> T:
        """Have the change request done; returns after its commit."""
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self.submit(request, partial(_settle, future))
        return await future

    def submit(self, request: ChangeRequest[Any], settle: Settle) -> None:
        """The same for callers that do not wait: `settle` is called in their event loop,
        after the commit."""
        loop = asyncio.get_running_loop()

        def gather(answer: Any, error: BaseException | None) -> None:
            # Gathered per loop and handed over once a batch: one wake-up, not many.
            self._replies.setdefault(loop, []).append(partial(settle, answer, error))

        self._put(Job(request, gather))

    def perform_now(self, request: ChangeRequest[T]) -> T:
        """The same for callers that may block: views, tasks, management commands."""
        future: Future[T] = Future()
        self._put(Job(request, partial(_settle, future)))
        if connection.vendor == "postgresql" and not connection.in_atomic_block:
            connection.close()  # back to the pool: the writer may need it
        return future.result()

    def _put(self, job: Job) -> None:
        if self.queue_length >= QUEUE_LIMIT:
            raise Unavailable("Too many requests are waiting to be written.")
        self._jobs.put(job)

    def close(self) -> None:
        """Finish what waits, then end the thread and its connection."""
        self._jobs.put(None)
        self._thread.join(timeout=10)

    def _run_forever(self) -> None:
        open_for_work = True
        while open_for_work or self._is_busy:
            jobs, self._held = self._held, []
            if open_for_work:
                open_for_work = self._gather(jobs)
            self._judge(jobs)
            if self._can_go_on_judging and not self._is_batch_done(PAUSE_SECONDS):
                continue
            self._finish()
            self._begin()
            for _ in range(min(LOCKED_AT_ONCE, len(self._locked_jobs))):
                self._perform_guarded([self._locked_jobs.take()])
                self._deliver()
            self._deliver()
        self._refuse_the_rest()
        connection.close()

    @property
    def _is_busy(self) -> bool:
        return bool(self._batch or self._judged or self._held or self._locked_jobs)

    @property
    def _can_go_on_judging(self) -> bool:
        """While the batch before is being stored, and nobody waits for the lock."""
        full = self._judged is not None and len(self._judged.items) >= BATCH_LIMIT
        return self._batch is not None and not self._locked_jobs and not full

    def _is_batch_done(self, seconds: float) -> bool:
        return self._batch is not None and self._batch.is_done(seconds)

    def _gather(self, batch: list[Job]) -> bool:
        """Whatever waits, plain change requests into the batch; False after the last of all."""
        for _ in range(BATCH_LIMIT):
            try:
                job = self._jobs.get(block=not (batch or self._is_busy))
            except Empty:
                break
            if job is None:
                return False
            if job.needs_own_transaction:
                self._locked_jobs.put(job.request.source, job)
            else:
                batch.append(job)
        return True

    def _refuse_the_rest(self) -> None:
        """Whoever came after the end was announced is told so, not left waiting."""
        while not self._jobs.empty():
            job = self._jobs.get()
            if job is not None:
                job.settle(None, Unavailable("The server is stopping."))
        self._deliver()

    def _judge(self, jobs: Sequence[Job]) -> None:
        """While the batch before is being stored: only what is not about its runs."""
        batch = self._batch
        if batch is not None:
            self._held = [job for job in jobs if batch.holds(job.request.run_code)]
            jobs = [job for job in jobs if not batch.holds(job.request.run_code)]
        if not jobs:
            return
        self._began = self._began or monotonic()
        try:
            self._judged = self._committer.judge(jobs, self._judged)
        except Exception as error:
            # Some of them may be among those that were judged before: all are tried alone.
            judged, self._judged = self._judged, None
            before = judged.list_jobs() if judged is not None else []
            self._finish()
            undone = [*before, *(job for job in jobs if job not in before)]
            self._try_again(self._recover(undone, error), locked=False)

    def _begin(self) -> None:
        """Start to store; what is done at once is answered at once."""
        judged, self._judged = self._judged, None
        if judged is None:
            return
        self._began = monotonic()
        try:
            self._batch = self._committer.begin(judged)
        except Exception as error:
            self._began = None
            self._try_again(self._recover(judged.list_jobs(), error), locked=False)
        else:
            if self._is_batch_done(0):
                self._finish()

    def _finish(self) -> None:
        """Wait for the commit that is under way, and answer."""
        batch, self._batch = self._batch, None
        if batch is None:
            return
        try:
            again: Sequence[Job] = self._committer.finish(batch)
        except Exception as error:
            again = self._recover(batch.judged.list_jobs(), error)
        self._began = None
        self._deliver()
        self._try_again(again, locked=False)

    def _perform_guarded(self, jobs: Sequence[Job]) -> None:
        """By themselves, from beginning to end."""
        self._finish()
        again: Sequence[Job] = ()
        locked = jobs[0].needs_own_transaction
        self._began = monotonic()
        try:
            if locked:
                self._committer.commit_one(jobs[0])
            else:
                again = self._committer.commit_batch(jobs)
        except Exception as error:
            again = self._recover(jobs, error)
        finally:
            self._began = None
        self._try_again(again, locked=locked)

    def _recover(self, jobs: Sequence[Job], error: Exception) -> Sequence[Job]:
        """Whatever it is, it must not end the thread that everybody depends on. Returns those
        that may be tried again."""
        logger.error(
            "The ledger failed on %d change requests", len(jobs), exc_info=error
        )
        self._committer.forget()
        self._failing = self._failing or _takes_no_writes(error)
        if isinstance(error, DatabaseError):
            connection.close()
        return self._settle_failed(jobs, error)

    def _try_again(self, again: Sequence[Job], *, locked: bool) -> None:
        """A change request that fails, fails alone: one by one, then it is said so."""
        for job in again:
            if job.settled:
                continue
            if (
                job.needs_own_transaction and not locked
            ):  # it has asked for the lock: its turn will come
                self._locked_jobs.put(job.request.source, job)
            else:
                self._retry(job)

    def _settle_failed(self, jobs: Sequence[Job], error: Exception) -> Sequence[Job]:
        """Those that may be tried again; the others are answered."""
        if isinstance(error.__cause__, LockNotAvailable):
            # Somebody holds the project: waiting again would hold up everybody else.
            for job in jobs:
                job.settle(None, Unavailable("The project is busy."))
        elif len(jobs) == 1 and not isinstance(error, DatabaseError):
            jobs[0].settle(None, error)
        elif len(jobs) == 1 and jobs[0].committing and not jobs[0].request.idempotency:
            # Was it committed before the answer was lost? Only a key could tell.
            jobs[0].settle(None, Unavailable(UNKNOWN))
        else:
            return jobs
        return ()

    def _retry(self, job: Job) -> None:
        """Try alone: either nothing was committed, or a step's number or a key make it
        safe."""
        job.attempts += 1
        if job.attempts >= ATTEMPTS:
            job.settle(None, Unavailable("The ledger cannot be written just now."))
        else:
            self._perform_guarded([job])

    def _notify_listeners(self, commit: Committed) -> None:
        self._failing = False
        for listener in list(self._listeners):
            try:
                listener(commit)
            except Exception:
                # This is a hint: whoever misses it finds the change by reading.
                logger.exception("A listener failed")

    def _deliver(self) -> None:
        replies, self._replies = self._replies, {}
        for loop, settle_all in replies.items():
            try:
                loop.call_soon_threadsafe(_run_all, settle_all)
            except RuntimeError:
                logger.warning("An event loop was closed before its answers came")


def _takes_no_writes(error: Exception) -> bool:
    """Full, read-only or gone; not a value or a key that it refuses, nor a lock."""
    if isinstance(error.__cause__, LockNotAvailable):
        return False
    return isinstance(error, (OperationalError, InterfaceError, InternalError))


def _run_all(callbacks: Iterable[Callable[[], None]]) -> None:
    for callback in callbacks:
        try:
            callback()
        except Exception:
            # The answers of all the others must still be given.
            logger.exception("An answer was not given")


def _settle(
    future: asyncio.Future[Any] | Future[Any], answer: Any, error: BaseException | None
) -> None:
    if future.done():  # the caller went away; the commit stands
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(answer)


_lock = threading.Lock()
_writer: Writer | None = None


def get_writer() -> Writer:
    """This process's writer, started at first use."""
    global _writer
    if _writer is None:
        with _lock:
            if _writer is None:
                _writer = Writer()
    return _writer


def close_writer() -> None:
    global _writer
    with _lock:
        if _writer is not None:
            _writer.close()
            _writer = None


def _forget_after_fork() -> None:
    global _writer
    _writer = None


os.register_at_fork(after_in_child=_forget_after_fork)
