"""What a run remembers of its turns: retries in a row, tool use, and repetition."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from guidance.core.runs.measures import find_cycle
from guidance.core.runs.memory import SIGNATURE_KEPT
from guidance.core.turns.facts import TurnFacts

# A cycle of four turns fits in five times; no more is looked for.
TURNS_KEPT = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnTrace:
    """What is remembered of one turn; None where it gave nothing to compare.

    `content` also tells apart what was called: the same few words before other calls
    are no repetition.
    """

    called_tools: bool
    content: str | None
    tools: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnMemory:
    """`turns` has the newest last; only the last `segment` of them can be a repetition."""

    retries: int = 0
    reminded_todos: int = 0
    segment: int = 0
    turns: tuple[TurnTrace, ...] = ()

    @property
    def tool_ratio(self) -> float:
        """The share of the remembered turns that called tools, 0 before there are any."""
        called = [turn.called_tools for turn in self.turns]
        return called.count(True) / len(called) if called else 0.0

    def remember_turn(
        self, facts: TurnFacts, *, action: str, tools: str | None = None
    ) -> TurnMemory:
        """The memory once this turn was judged; `tools` signs what it called, if known.

        A turn that finishes starts the count of retries anew. One that goes on by itself,
        is warned of or waits for a person says nothing about it.
        """
        retries, reminded = self.retries, self.reminded_todos
        if action == "auto_continue":
            retries, reminded = retries + 1, facts.pending_todos
        elif action == "finish":
            retries = 0
            reminded = reminded if facts.pending_todos else 0
        return TurnMemory(
            retries=retries,
            reminded_todos=reminded,
            segment=min(self.segment + 1, TURNS_KEPT),
            turns=(*self.turns, _build_trace(facts, tools))[-TURNS_KEPT:],
        )

    def clear_after_answer(self) -> TurnMemory:
        """After a person answered: what led to the question is not counted again."""
        return replace(self, retries=0, segment=0)

    def count_repetition(self, *, times: int) -> int | None:
        """How many turns repeat: the shortest cycle of up to four that went through
        `times` whole times, 0 if none did, None where nothing can be compared.

        This is what the continue gate means by a cycle of steps.
        """
        if not self.segment:
            return None
        recent = self.turns[-self.segment :]
        found = [
            length
            for signs in (
                [turn.content for turn in recent],
                [turn.tools for turn in recent],
            )
            if signs and (length := find_cycle(signs, times=times)) is not None
        ]
        if not found:
            return None
        return min(filter(None, found), default=0)

    def to_json(self) -> dict[str, Any]:
        """A compact form: each remembered turn is a list in the order of its fields."""
        return {
            "retries": self.retries,
            "reminded_todos": self.reminded_todos,
            "segment": self.segment,
            "turns": [
                [turn.called_tools, turn.content, turn.tools] for turn in self.turns
            ],
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> TurnMemory:
        return cls(
            retries=document["retries"],
            reminded_todos=document["reminded_todos"],
            segment=document["segment"],
            turns=tuple(
                TurnTrace(called_tools=called, content=content, tools=tools)
                for called, content, tools in document["turns"]
            ),
        )


def _build_trace(facts: TurnFacts, tools: str | None) -> TurnTrace:
    said = " ".join(facts.content.casefold().split())
    # Calls without a word are compared as calls. Nothing at all is the same as nothing.
    silent = not said and facts.tool_calls > 0
    if tools is not None and len(tools) > SIGNATURE_KEPT:
        tools = _hash_text(tools)
    return TurnTrace(
        called_tools=facts.tool_calls > 0,
        content=None if silent else _hash_text(f"{said}\n{tools or ''}"),
        tools=tools,
    )


def _hash_text(text: str) -> str:
    # A lone half of a surrogate pair is text like any other here.
    data = text.encode("utf-8", "surrogatepass")
    return "sha256:" + hashlib.sha256(data).hexdigest()
