"""How much is tried of what is left to chance: a part every day, all of it every night.

Whole runs try fresh examples, from a seed that they print. Pytest by itself, and what is
quick, try the same ones each time, so that a failure is the change's.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

ALL = bool(os.environ.get("CHECKRAIL_ALL_EXAMPLES"))
FRESH = ALL or bool(os.environ.get("CHECKRAIL_FRESH_EXAMPLES"))
PART = 8
# A state machine is tried with as many times its examples, and given the time for it. To
# look for a shorter walk that fails takes minutes: by day the first one has to do.
MACHINE_TIMES = 20 if ALL else 1
MACHINE_TIMEOUT = 3_600 if ALL else 180
MACHINE_PHASES = tuple(Phase) if ALL else (Phase.explicit, Phase.generate)


# For properties without settings of their own: a busy machine is slow at everything.
settings.register_profile(
    "busy", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("busy")


def part(count: int, *, least: int) -> int:
    """An eighth of them, but enough to mean something."""
    return count if ALL else min(count, max(count // PART, least))


def examples(count: int, *, derandomize: bool = True) -> settings:
    """So many examples of a property, however long one takes."""
    return settings(
        derandomize=derandomize and not FRESH,
        max_examples=part(count, least=25),
    )


def machine_examples(count: int, *, steps: int) -> settings:
    """So many walks of a state machine through a server, each of so many steps."""
    return settings(
        max_examples=count * MACHINE_TIMES,
        stateful_step_count=steps,
        phases=MACHINE_PHASES,
        derandomize=not FRESH,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
