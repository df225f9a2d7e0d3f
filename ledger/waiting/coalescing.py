"""One message instead of many: projects that changed, gathered and sent by a thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable


class CoalescingSender:
    """Calls `send` with the projects added since its last call, from a thread of its own.

    So a slow or absent receiver never holds up a commit. `before_s` gathers first and
    then sends; `after_s` sends at once and then gathers.
    """

    def __init__(
        self,
        name: str,
        send: Callable[[list[int]], None],
        *,
        before_s: float = 0.0,
        after_s: float = 0.0,
    ) -> None:
        self._name = name
        self._send = send
        self._before_s = before_s
        self._after_s = after_s
        self._projects: set[int] = set()
        self._lock = threading.Lock()
        self._added = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, projects: Iterable[int]) -> None:
        with self._lock:
            self._projects.update(projects)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(
                    target=self._run, name=self._name, daemon=True
                )
                self._thread.start()
        self._added.set()

    def _run(self) -> None:
        while True:
            self._added.wait()
            time.sleep(self._before_s)
            self._added.clear()
            with self._lock:
                projects, self._projects = self._projects, set()
            self._send(sorted(projects))
            time.sleep(self._after_s)
