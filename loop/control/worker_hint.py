"""Hints to the workers, as Celery tasks, that a project's loop has something to do.

Only hints: many become one, they are sent from a thread of their own so that a slow broker
delays nobody, and the next tick finds what was lost.
"""

from __future__ import annotations

import logging
import threading
import time

from celery import current_app
from kombu.exceptions import OperationalError

from ledger.writer import Committed, listen_always

DECIDE = "loop.decide"
# Soon enough for the loop, and a burst of rulings becomes one hint.
PAUSE_S = 0.5
EXPIRES_S = 60

logger = logging.getLogger(__name__)


class Hints:
    def __init__(self) -> None:
        self._projects: set[int] = set()
        self._lock = threading.Lock()
        self._news = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, *projects: int) -> None:
        with self._lock:
            self._projects.update(projects)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(
                    target=self._work, name="loop-hints", daemon=True
                )
                self._thread.start()
        self._news.set()

    def _work(self) -> None:
        while True:
            self._news.wait()
            # Waiting agents come first, then the loop.
            time.sleep(PAUSE_S)
            self._news.clear()
            with self._lock:
                projects, self._projects = self._projects, set()
            for project_id in sorted(projects):
                try:
                    current_app.send_task(
                        DECIDE, (project_id,), expires=EXPIRES_S, retry=False
                    )
                except (OperationalError, OSError) as error:
                    logger.warning("A hint to the loop could not be sent: %s", error)


_hints = Hints()


def send_hint(project_id: int) -> None:
    """Call it after the commit."""
    _hints.add(project_id)


def send_hints_on_commits() -> None:
    """Hint at every commit that wakes an agent: a run ended, a review was ruled on."""

    def committed(news: Committed) -> None:
        if news.runs:
            _hints.add(*news.projects)

    listen_always(committed)
