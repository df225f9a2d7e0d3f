"""Tell the workers that a project's loop has something to do, as a Celery task.

A hint and nothing more: many become one, it is sent from a thread of its own so that a
broker that is slow or gone holds up nobody, and what is lost the next tick finds.
"""

from __future__ import annotations

import logging
import threading
import time

from celery import current_app
from kombu.exceptions import OperationalError

from ledger.writer import Committed, listen_always

DECIDE = "loop.decide"
# Soon enough for the loop, and a burst of rulings makes one hint.
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
            # First whoever waits for this very commit, an agent above all, then the loop.
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


def hint(project_id: int) -> None:
    """Something waits in this project. Call it after the commit."""
    _hints.add(project_id)


def hint_on_commits() -> None:
    """Runs that end and reviews that are ruled on wake somebody, and the loop too."""

    def committed(news: Committed) -> None:
        if news.runs:
            _hints.add(*news.projects)

    listen_always(committed)
