"""Celery's doors to the loop: each calls one use case, and all are safe to repeat."""

from __future__ import annotations

import threading

from celery import shared_task

from loop.control.clock import has_ledger, look, tick
from loop.control.worker_hint import DECIDE, hint
from loop.learning.learn import learn_daily

# Projects that a thread of this process looks at, and those that news came of since.
_looked_at: set[int] = set()
_once_more: set[int] = set()
_lock = threading.Lock()


@shared_task(name="loop.tick", ignore_result=True)
def beat() -> int:
    """Every minute: heartbeats that are due, and all that was missed."""
    return tick()


@shared_task(name=DECIDE, ignore_result=True)
def decide(project_id: int) -> int:
    """At once: what waits in this project, if there is such a one.

    One thread of a process is enough for a project: many run ends at once would take
    all of them, and webhooks and expiry would wait.
    """
    with _lock:
        if project_id in _looked_at:
            _once_more.add(project_id)
            return 0
        _looked_at.add(project_id)
    all_of_it = True
    try:
        if not has_ledger(project_id):
            return 0
        decided, all_of_it = look(project_id)
        return decided
    finally:
        with _lock:
            _looked_at.discard(project_id)
            missed = project_id in _once_more
            _once_more.discard(project_id)
        if missed or not all_of_it:
            hint(project_id)


@shared_task(name="loop.learn", ignore_result=True)
def learn() -> int:
    """Every hour: projects whose facts were not counted for a day."""
    return learn_daily()
