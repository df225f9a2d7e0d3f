"""Do the work of a job: who takes it, and how far it came.

What is written goes by the worker's own mark: one that was cancelled, or taken over because
it gave no sign, writes nothing more.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar
from uuid import uuid4

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from ledger.jobs.models import BackgroundJob, JobState

# A worker that gives no sign for so long is gone.
LOST_AFTER = timedelta(seconds=60)
ATTEMPTS = 3
FAILED = "It could not be finished. The log of the server says why."
# How often it says how far it came.
SIGN_S = 0.5

logger = logging.getLogger(__name__)
Job = TypeVar("Job", bound=BackgroundJob)
Page = TypeVar("Page")


def perform_next_job(rows: QuerySet[Job], work: Callable[[Job, Signs], None]) -> bool:
    """Do the next that waits, or whose worker is gone; False if there is none."""
    now = timezone.now()
    lost = Q(state=JobState.RUNNING, seen_at__lt=now - LOST_AFTER)
    due = rows.filter(Q(state=JobState.WAITING) | lost)
    for pk in due.order_by("pk").values_list("pk", flat=True):
        worker = uuid4()
        taken = due.filter(pk=pk).update(
            state=JobState.RUNNING,
            worker=worker,
            attempts=F("attempts") + 1,
            started_at=now,
            seen_at=now,
        )
        if taken:
            job = rows.get(pk=pk)
            _perform(job, rows.filter(pk=pk, worker=worker), work)
            return True
    return False


def _perform(job: Job, own: QuerySet[Job], work: Callable[[Job, Signs], None]) -> None:
    try:
        if job.attempts > ATTEMPTS:
            raise JobEnded(f"Its worker ended {ATTEMPTS} times before it was done.")
        work(job, Signs(own))
    except _Cancelled:
        pass
    except Exception as error:
        reason = str(error)
        if not isinstance(error, JobEnded):
            logger.exception("%s %d failed", type(job).__name__, job.pk)
            reason = FAILED
        own.filter(state=JobState.RUNNING).update(
            state=JobState.FAILED, reason=reason, ended_at=timezone.now()
        )


class JobEnded(Exception):
    """It cannot go on, and says why in words."""


class _Cancelled(Exception):
    """Somebody ended it, or another worker has it."""


class Signs:
    """Stores how far a job came, every so often; notices when it was cancelled."""

    def __init__(self, own: QuerySet[Any]) -> None:
        self._own = own.filter(state=JobState.RUNNING)
        self._total = 0
        self._at = time.monotonic()

    def set_total(self, total: int) -> None:
        self._total = total
        self._own.update(total=total)

    def give(self, done: int, build_result: Callable[[], Any]) -> None:
        """How far it came; the result is built only when it is stored."""
        if time.monotonic() - self._at < SIGN_S:
            return
        self._at = time.monotonic()
        self._store(done, build_result(), total=max(self._total, done))

    def renew(self) -> None:
        """Still at work, though there is nothing new to store."""
        if time.monotonic() - self._at < SIGN_S:
            return
        self._at = time.monotonic()
        if not self._own.update(seen_at=timezone.now()):
            raise _Cancelled

    def tell(self, reason: str) -> None:
        """Say in words why it takes longer."""
        if not self._own.update(reason=reason, seen_at=timezone.now()):
            raise _Cancelled

    def finish(self, done: int, result: Any) -> None:
        self._store(
            done,
            result,
            total=done,
            reason="",
            state=JobState.FINISHED,
            ended_at=timezone.now(),
        )

    def _store(self, done: int, result: Any, **more: Any) -> None:
        known = self._own.update(
            done=done,
            result=json.dumps(result, ensure_ascii=False),
            seen_at=timezone.now(),
            **more,
        )
        if not known:
            raise _Cancelled


class SignsBeside:
    """The same signs from a thread of its own, while this one reads a snapshot: what is
    read there is not written. One that cannot be written is left out, the next will be."""

    def __init__(self, signs: Signs) -> None:
        self._signs = signs
        self._thread = ThreadPoolExecutor(1, "signs")

    def __enter__(self) -> SignsBeside:
        return self

    def __exit__(self, *_error: object) -> None:
        # Looked up over there: each thread has a `connection` of its own.
        self._thread.submit(lambda: connection.close())
        self._thread.shutdown()

    def set_total(self, total: int) -> None:
        self._perform(partial(self._signs.set_total, total))

    def give(self, done: int, build_result: Callable[[], Any]) -> None:
        self._perform(partial(self._signs.give, done, build_result))

    def renew(self) -> None:
        self._perform(self._signs.renew)

    def tell(self, reason: str) -> None:
        self._perform(partial(self._signs.tell, reason))

    def _perform(self, sign: Callable[[], None]) -> None:
        if connection.in_atomic_block:  # nobody else sees the job's row yet
            sign()
            return
        try:
            self._thread.submit(sign).result()
        except (InterfaceError, OperationalError):
            logger.warning("How far a job came could not be stored", exc_info=True)


def give_way(pages: Iterable[Page]) -> Iterator[Page]:
    """Rest after each page where the server is in the same process: it comes first."""
    began = time.monotonic()
    for page in pages:
        yield page
        if settings.EMBEDDED:
            time.sleep((time.monotonic() - began) / 2)
        began = time.monotonic()
