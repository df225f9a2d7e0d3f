"""Turns and rules for these tests."""

from __future__ import annotations

from typing import Any

from guidance.core.document_reader import Problem, Section
from guidance.core.settings import read_settings
from guidance.core.turns.facts import TurnFacts
from guidance.core.turns.judge_turn import TurnVerdict, judge_turn
from guidance.core.turns.section import TurnRules

RULES = TurnRules()
# What scores as high as a stop can: only the text is left to decide.
KEEN: dict[str, Any] = {
    "finish_reason": "tool_calls",
    "last_event": "tool_result",
    "recent_tool_ratio": 1.0,
}


def read(**section: Any) -> tuple[TurnRules, dict[str, str]]:
    """The rules of a section, and what is wrong with it by path."""
    problems: list[Problem] = []
    rules = read_settings(Section(section, path="turns", problems=problems), TurnRules)
    return rules, dict(problems)


def rules(**section: Any) -> TurnRules:
    found, problems = read(**section)
    assert problems == {}
    return found


def make_turn(content: str = "", **overrides: Any) -> TurnFacts:
    """A turn that stopped after a tool result, in a run that mostly calls tools."""
    fields: dict[str, Any] = {
        "finish_reason": "stop",
        "last_event": "tool_result",
        "recent_tool_ratio": 0.75,
        **overrides,
    }
    return TurnFacts(content=content, **fields)


def judge(content: str = "", *, by: TurnRules = RULES, **overrides: Any) -> TurnVerdict:
    return judge_turn(by, make_turn(content, **overrides))


def keenly(content: str, **overrides: Any) -> TurnVerdict:
    return judge(content, **{**KEEN, **overrides})
