"""What is decided about a turn changes only together with the version stored beside it."""

from __future__ import annotations

from itertools import product
from typing import Any

from guidance.core.canonical import hash_text, to_canonical_json
from guidance.core.turns.judge_turn import TURN_VERSION
from tests.guidance.core.turns.builders import KEEN, judge

# The version, and a digest over the verdicts on the turns below, which do not change.
JUDGED = (
    1,
    "sha256:6abc94488fad473bd63ca1ba1930fed4d78ba1e9ef4b203d0c33f95702714b5f",
)

TEXTS = (
    "",
    "Let me continue with the next step.",
    "Now I need to fix the imports.",
    "The implementation is complete. To summarize, I fixed the bug by hand.",
    "Let me know if you'd like me to make any changes.",
    "The bug is fixed. All changes have been made successfully.",
    "Not all files have been updated, I still need to fix two.",
    "Shall I proceed with dropping the production table?",
    "It prints 42.",
    "I’m done. Now let me rest.",
    "```\nShall I?\n```\nNext I will run the tests.",
)
FACTS: tuple[dict[str, Any], ...] = (
    {},
    KEEN,
    {"tool_calls": 1},
    {"finish_reason": None, "recent_tool_ratio": 0.2},
    {"finish_reason": "length"},
    {"finish_reason": "content_filter"},
    {"last_event": "user", "pending_todos": 2},
    {"retries_used": 3, **KEEN},
    {"pending_todos": 2, "reminded_todos": 2},
)


def test_other_verdicts_take_the_next_version() -> None:
    found = [judge(text, **facts).to_json() for text, facts in product(TEXTS, FACTS)]

    assert (TURN_VERSION, hash_text(to_canonical_json(found))) == JUDGED, (
        "Turns are judged otherwise than they were, or in other words. Replay judges "
        "again what has the same version: raise TURN_VERSION, then write both here."
    )
