"""All agents of the demo. Each is fiction, but every step of theirs is really judged."""

from __future__ import annotations

from demo.agents.profile import Profile
from demo.agents.profiles.calls import JANITOR, PILOT
from demo.agents.profiles.checks import TESTER, TRANSLATOR
from demo.agents.profiles.plans import PRUNER
from demo.agents.profiles.questions import NOTES, TRIAGE
from demo.agents.profiles.steps import (
    BACKFILL,
    FUZZER,
    MIGRATOR,
    NIGHTLY,
    REINDEXER,
    SWEEPER,
)
from demo.agents.profiles.trees import UPGRADER

PROFILES: tuple[Profile, ...] = (
    MIGRATOR,
    SWEEPER,
    REINDEXER,
    TRIAGE,
    NOTES,
    FUZZER,
    BACKFILL,
    NIGHTLY,
    PILOT,
    JANITOR,
    TESTER,
    TRANSLATOR,
    UPGRADER,
    PRUNER,
)


def get_profile(name: str, *, index: int) -> Profile:
    """The profile of that name; agents of other names take turns."""
    known = {profile.name: profile for profile in PROFILES}
    return known.get(name, PROFILES[index % len(PROFILES)])
