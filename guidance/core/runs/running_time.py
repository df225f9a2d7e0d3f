"""How long a run has been running by the server's clock, whatever its agent reports."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

_MS = timedelta(milliseconds=1)
# Later than this no end is looked for: dates themselves come to an end.
_FAR_MS = 100 * 366 * 86_400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningTime:
    """`before_ms` passed until the time last stood still, `since` is when it went on, None
    while it stands still. It does so in every status but `running`, and while the session
    of a coding agent is `idle`: between the end of a turn and the next prompt."""

    before_ms: int = 0
    since: datetime | None = None
    idle: bool = False

    def measure(self, at: datetime) -> int:
        """Whole milliseconds up to this moment. A clock that is behind adds nothing."""
        if self.since is None:
            return self.before_ms
        return self.before_ms + max(0, (at - self.since) // _MS)

    def move(self, *, running: bool, idle: bool, at: datetime) -> RunningTime:
        """The same after a change of status, or of what the session does."""
        goes_on = running and not idle
        if goes_on == (self.since is not None):
            return replace(self, idle=idle)
        return RunningTime(
            before_ms=self.measure(at), since=at if goes_on else None, idle=idle
        )

    def compute_end(self, limit_ms: int | None) -> datetime | None:
        """When the limit is reached, if nothing stands still before; None if never."""
        if self.since is None or limit_ms is None:
            return None
        left = limit_ms - self.before_ms
        return None if left > _FAR_MS else self.since + left * _MS
