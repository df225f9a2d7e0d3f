"""Tell the workers at once that a task has something to do. Only a hint, sent by a thread of
its own: the clock finds what was lost."""

from __future__ import annotations

import logging
import threading
from typing import Any

from ledger.waiting.coalescing import CoalescingSender

EXPIRES_S = 60

logger = logging.getLogger(__name__)
_loading = threading.Lock()


class TaskHints:
    def __init__(self, task: str) -> None:
        self._task = task
        self._sender = CoalescingSender(f"{task}-hints", self._send)

    def send(self, project_id: int) -> None:
        self._sender.add((project_id,))

    def _send(self, _projects: list[int]) -> None:
        send_task(self._task)


def send_task(task: str, *args: int) -> None:
    """Put it before the workers; a broker that is not there is only told to the log."""
    app = load_celery()
    from kombu.exceptions import OperationalError

    try:
        app.send_task(task, args, expires=EXPIRES_S, retry=False)
    except (OperationalError, OSError) as error:
        logger.warning("A hint to run %s could not be sent: %s", task, error)


def load_celery() -> Any:
    """Late: a command that sends nothing need not load Celery. By one thread at a time:
    Celery and its messaging replace their own modules while they are imported."""
    with _loading:
        import kombu.exceptions  # noqa: F401
        from celery import current_app

    return current_app
