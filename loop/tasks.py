"""Celery tasks of the loop. Each calls one use case, and all are safe to repeat."""

from __future__ import annotations

import threading

from celery import shared_task

from loop.control.clock import has_ledger, run_cycle, tick
from loop.control.worker_hint import DECIDE, send_hint
from loop.learning.learn import learn_daily

# Projects whose cycle a thread of this process runs, and those that were hinted at since.
_running: set[int] = set()
_once_more: set[int] = set()
_lock = threading.Lock()


@shared_task(name="loop.tick", ignore_result=True)
def tick_projects() -> int:
    """Every minute: send the heartbeats that are due, and decide what was missed."""
    return tick()


@shared_task(name=DECIDE, ignore_result=True)
def decide(project_id: int) -> int:
    """Run the cycle of one project now.

    At most one thread of a process per project: otherwise a burst of ended runs would
    take all threads, and webhooks and expiry would wait.
    """
    with _lock:
        if project_id in _running:
            _once_more.add(project_id)
            return 0
        _running.add(project_id)
    nothing_left = True
    try:
        if not has_ledger(project_id):
            return 0
        decided, nothing_left = run_cycle(project_id)
        return decided
    finally:
        with _lock:
            _running.discard(project_id)
            missed = project_id in _once_more
            _once_more.discard(project_id)
        if missed or not nothing_left:
            send_hint(project_id)


@shared_task(name="loop.learn", ignore_result=True)
def learn() -> int:
    """Every hour: learn in projects where that is a day ago."""
    return learn_daily()
