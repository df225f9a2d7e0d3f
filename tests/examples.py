"""How many examples a property is tried with: a part every day, all when asked for.

CHECKRAIL_ALL_EXAMPLES=1 make test
"""

from __future__ import annotations

import os

from hypothesis import settings

ALL = bool(os.environ.get("CHECKRAIL_ALL_EXAMPLES"))
PART = 4
ENOUGH = 50


def examples(count: int, *, derandomize: bool = True) -> settings:
    daily = min(count, max(count // PART, ENOUGH))
    return settings(
        derandomize=derandomize,
        deadline=None,
        max_examples=count if ALL else daily,
    )
