"""How much is tried of what is left to chance: a part every day, all when asked for.

CHECKRAIL_ALL_EXAMPLES=1 make test
"""

from __future__ import annotations

import os

from hypothesis import settings

ALL = bool(os.environ.get("CHECKRAIL_ALL_EXAMPLES"))
PART = 4


def part(count: int, *, least: int) -> int:
    """A quarter of them, but enough to mean something."""
    return count if ALL else min(count, max(count // PART, least))


def examples(count: int, *, derandomize: bool = True) -> settings:
    """So many examples of a property, however long one takes."""
    return settings(
        derandomize=derandomize,
        deadline=None,
        max_examples=part(count, least=50),
    )
