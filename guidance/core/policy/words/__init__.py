"""What every setting of a policy is called and says, in words for people.

By the path of the setting; a star stands for the name or the number of one of several.
"""

from __future__ import annotations

from collections.abc import Mapping

from guidance.core.policy.words.entry import Words
from guidance.core.policy.words.evaluators import EVALUATORS
from guidance.core.policy.words.gates import GATES
from guidance.core.policy.words.loop import LOOP
from guidance.core.policy.words.runs import RUNS
from guidance.core.policy.words.tools import TOOLS
from guidance.core.policy.words.turns import TURNS

__all__ = ["WORDS", "Words"]

WORDS: Mapping[str, Words] = {
    **RUNS,
    **TOOLS,
    **GATES,
    **EVALUATORS,
    **TURNS,
    **LOOP,
}
