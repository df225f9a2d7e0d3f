"""What a halt covers, and for how long deadlines stood still by it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

NO_TIME = timedelta(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class HaltScope:
    """Of these one: `agent_id`, `label` ("name:value") or `run_id`; none of them is the
    whole project. `children` are the runs below the run."""

    agent_id: int | None = None
    label: str = ""
    run_id: int | None = None
    children: bool = False

    def covers(
        self,
        *,
        run_id: int,
        agent_id: int,
        labels: Mapping[str, str],
        ancestors: Sequence[int],
    ) -> bool:
        """Whether a run of the project is among what is halted. Nothing of a run that is
        asked for here ever changes."""
        if self.agent_id is not None:
            return agent_id == self.agent_id
        if self.label:
            return any(
                f"{name}:{value}" == self.label for name, value in labels.items()
            )
        if self.run_id is not None:
            below = self.children and self.run_id in ancestors
            return run_id == self.run_id or below
        return True


@dataclass(frozen=True, slots=True)
class Interval:
    """From the beginning of a halt to its release."""

    begin: datetime
    end: datetime


def measure_halted(
    halted: Interval, *, earlier: Iterable[Interval], since: datetime
) -> timedelta:
    """For how long something that began at `since` stood still by this halt. What halts
    that were released before it stood for is not counted again."""
    parts = [Interval(max(halted.begin, since), halted.end)]
    for other in earlier:
        parts = [left for part in parts for left in _cut(part, other)]
    return sum(
        (part.end - part.begin for part in parts if part.begin < part.end), NO_TIME
    )


def _cut(part: Interval, other: Interval) -> list[Interval]:
    """What of the part lies before the other, and what behind it."""
    before = Interval(part.begin, min(part.end, other.begin))
    behind = Interval(max(part.begin, other.end), part.end)
    return [each for each in (before, behind) if each.begin < each.end]
