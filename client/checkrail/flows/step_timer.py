"""How long a step took, where nobody says it: the time since the step before.

The time in which a person was waited for, or the server told the agent to wait, is not the
agent's; and what calls took is reported with their results.
"""

from __future__ import annotations

from collections.abc import Callable


class StepTimer:
    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.begin()

    def begin(self) -> None:
        self._began = self._clock()
        self._excluded = 0.0

    def exclude(self, seconds: float) -> None:
        self._excluded += seconds

    def measure_ms(self) -> int:
        """Never less than nothing: calls that ran side by side took longer together."""
        spent = self._clock() - self._began - self._excluded
        return max(0, round(spent * 1000))
