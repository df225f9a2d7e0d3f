"""Waiting for something to become true, and a clock that is moved instead of waiting."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime

import httpx
import pytest
import time_machine
from django.db import connection

from ledger.models import Run
from ledger.waiting.hub import count_waiting
from ledger.writer import get_writer


def until(condition: Callable[[], bool], *, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "It did not come true in time."
        time.sleep(0.01)


@contextmanager
def stand_at(moment: datetime) -> Iterator[None]:
    """It is this moment for all of the process, and for what its writer decides."""
    committer = get_writer()._committer
    with (
        time_machine.travel(moment, tick=False),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(committer, "_read_clock", lambda: datetime.now(UTC))
        yield


def is_lock_awaited() -> bool:
    """Whether a session of PostgreSQL waits for another one."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        ((waiting,),) = cursor.fetchall()
    return bool(waiting)


def park(client: httpx.Client, run: str, query: str = "") -> Future[httpx.Response]:
    """A long-poll in a thread of its own; returns once this process has parked it."""
    run_id = Run.objects.values_list("pk", flat=True).get(code=run)
    before = count_waiting(run_id)
    pool = ThreadPoolExecutor(max_workers=1)
    answer = pool.submit(client.get, f"/runs/{run}/decision?wait=20{query}")
    pool.shutdown(wait=False)
    until(lambda: count_waiting(run_id) > before or answer.done())
    return answer
