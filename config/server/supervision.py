"""Threads that must not end: started again, and if that is of no use, the end is told."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from time import monotonic
from typing import Protocol

# Between one start and the next, in seconds; after the last one it is given up.
PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0)
# Who has worked for so long has recovered: the next failure is a first one again.
WELL_SECONDS = 120.0

logger = logging.getLogger(__name__)


class Work(Protocol):
    """Something that works until it is stopped."""

    def start(self) -> None: ...

    def stop(self) -> None: ...


class Supervised:
    """Work on a thread of its own, built anew for each start."""

    def __init__(
        self, name: str, build: Callable[[], Work], give_up: Callable[[str], None]
    ) -> None:
        self._name = name
        self._build = build
        self._give_up = give_up
        self._stopping = threading.Event()
        self._work: Work | None = build()
        self._thread = threading.Thread(target=self._keep_up, name=name, daemon=True)
        self._thread.start()

    def stop(self, *, within: float) -> None:
        self._stopping.set()
        if self._work is not None:
            self._work.stop()
        self._thread.join(timeout=within)

    def _keep_up(self) -> None:
        failures = 0
        while True:
            began = monotonic()
            reason = self._perform()
            if self._stopping.is_set():
                return
            failures = 1 if monotonic() - began > WELL_SECONDS else failures + 1
            if failures > len(PAUSES):
                break
            pause = PAUSES[failures - 1]
            logger.error(
                "The %s has ended (%s): it is started again in %g s",
                *(self._name, reason, pause),
            )
            if self._stopping.wait(pause):
                return
        self._give_up(f"The {self._name} ends again and again: {reason}")

    def _perform(self) -> str:
        """Returns why it ended."""
        try:
            work = self._work = self._work or self._build()
            work.start()
        except BaseException as error:
            logger.error("The %s has failed", self._name, exc_info=error)
            return f"{type(error).__name__}: {error}"
        finally:
            self._work = None
        return "without saying why"
