"""What is known about one turn of an agent when it is judged."""

from __future__ import annotations

from dataclasses import dataclass

from guidance.core.runs.facts import FactError

FINISH_REASONS = ("stop", "tool_calls", "length", "content_filter")
LAST_EVENTS = ("tool_result", "assistant", "user")


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFacts:
    """The first five come from the agent; the rest is what its run remembers.

    `tool_calls` counts the calls present in this turn. `reminded_todos` is how many
    todos were open when the agent was last reminded of them, 0 if it never was.
    """

    finish_reason: str | None = None
    tool_calls: int = 0
    last_event: str = "assistant"
    content: str = ""
    pending_todos: int = 0
    recent_tool_ratio: float = 0.0
    retries_used: int = 0
    reminded_todos: int = 0

    def __post_init__(self) -> None:
        if self.finish_reason is not None and self.finish_reason not in FINISH_REASONS:
            raise FactError(
                "finish_reason", f"must be one of {', '.join(FINISH_REASONS)} or null"
            )
        if self.last_event not in LAST_EVENTS:
            raise FactError("last_event", f"must be one of {', '.join(LAST_EVENTS)}")
        for name in ("tool_calls", "pending_todos", "retries_used", "reminded_todos"):
            if getattr(self, name) < 0:
                raise FactError(name, "must not be negative")
        # Written so that NaN, which every comparison denies, is refused as well.
        if not 0 <= self.recent_tool_ratio <= 1:
            raise FactError("recent_tool_ratio", "must be from 0 to 1")
