"""A bar that shows how far a long command came, where somebody looks at it."""

from __future__ import annotations

import time
from typing import TextIO

WIDTH = 30
# How often it is drawn anew.
EVERY_S = 0.1


class ProgressBar:
    """Draws on a terminal and nowhere else: logs and pipes stay clean."""

    def __init__(self, stream: TextIO, *, total: int, what: str) -> None:
        self._stream = stream
        self._total = total
        self._what = what
        self._shown = stream.isatty()
        self._at = 0.0

    def show(self, done: int) -> None:
        now = time.monotonic()
        if not self._shown or now - self._at < EVERY_S:
            return
        self._at = now
        share = min(done / self._total, 1.0) if self._total else 1.0
        filled = "#" * int(share * WIDTH)
        self._stream.write(
            f"\r[{filled:<{WIDTH}}] {share:4.0%}  "
            f"{done:,} of {self._total:,} {self._what}"
        )
        self._stream.flush()

    def clear(self) -> None:
        """Leave the line as if nothing had been drawn on it."""
        if self._shown:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()
