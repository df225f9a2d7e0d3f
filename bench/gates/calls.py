"""Calls that are slow to judge, and the gates that judge them."""

from __future__ import annotations

from guidance.core.tools.calls import Call
from guidance.core.tools.judge_call import judge_call
from guidance.core.tools.section import ToolRules
from tests.guidance.core.tools.bombs import combinations, mixtures, texts_of_one_kind
from tests.guidance.core.tools.edit_bombs import edit_bombs

_RULES = ToolRules()


def build_slow_calls() -> dict[str, Call]:
    return {**texts_of_one_kind(), **mixtures(), **combinations(), **edit_bombs()}


def judge(call: Call) -> object:
    """All gates of a call under the default policy, and the search for secrets."""
    return judge_call(rules=_RULES, call=call, fingerprint_key=b"a key to measure with")
