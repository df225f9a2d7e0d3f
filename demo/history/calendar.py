"""When agents begin a run and when people answer: by weekday and hour, by seeded chance."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random

# Runs that an agent begins on a working day, and how many of them on a weekend: more would
# keep a newcomer waiting, as they are made before the console opens.
RUNS_A_DAY = 0.45
WEEKEND_SHARE = 0.2
# In UTC: most work begins between these hours.
MORNING, EVENING = 7, 18
# A person is at their desk; at night and at weekends answers take longer.
SLOW_FACTOR = 4.0


def list_beginnings(chance: Random, *, now: datetime, weeks: int) -> Iterator[datetime]:
    """When one agent began its runs, the oldest first."""
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    for days in range(weeks * 7, -1, -1):
        day = today - timedelta(days=days)
        rate = RUNS_A_DAY * (WEEKEND_SHARE if day.weekday() >= 5 else 1.0)
        moments = [
            day + timedelta(hours=chance.triangular(MORNING, EVENING))
            for _ in range(_draw_count(chance, rate))
        ]
        yield from sorted(each for each in moments if each < now)


def draw_answer_time(chance: Random, *, at: datetime, half_within: float) -> timedelta:
    """How long a person takes: half of all answers come within so many seconds."""
    seconds = chance.lognormvariate(0, 1.1) * half_within
    if at.weekday() >= 5 or not MORNING <= at.hour < EVENING:
        seconds *= SLOW_FACTOR
    return timedelta(seconds=max(1.0, seconds))


def _draw_count(chance: Random, rate: float) -> int:
    """A whole number that is `rate` on average: none, one or two for most rates."""
    return sum(chance.random() < rate / 3 for _ in range(3))
