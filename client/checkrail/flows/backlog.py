"""Steps and call results that the server has not answered, and answers not acted on."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from checkrail.answers import Decision, ReviewRef, Settled
from checkrail.errors import CheckrailError
from checkrail.transport.effects import Request


@dataclass(eq=False)
class StepReport:
    """One step on its way. `owned` while the call that reported it is waiting."""

    fields: Mapping[str, Any]
    awaited: bool = False
    decision: Decision | None = None
    refusal: CheckrailError | None = None

    @property
    def is_settled(self) -> bool:
        return self.decision is not None or self.refusal is not None


@dataclass(eq=False)
class CallResult:
    """What came of a call, on its way. `owned` while whoever reports it is waiting."""

    tool: str
    request: Request
    awaited: bool = False
    settled: Settled | None = None
    refusal: CheckrailError | None = None
    # It was answered with something that is not the contract's.
    had_bad_answer: bool = False


@dataclass(eq=False)
class Backlog:
    """Steps and results that are not answered yet, in order, and answers nobody has
    obeyed yet."""

    lock: Any
    steps: deque[StepReport] = field(default_factory=deque)
    results: deque[CallResult] = field(default_factory=deque)
    pending: deque[Decision | ReviewRef] = field(default_factory=deque)
    errors: deque[Exception] = field(default_factory=deque)
    # How many steps go into one request.
    batch_size: int = 1

    @property
    def is_blocked(self) -> bool:
        """Something was answer that nothing may be sent before."""
        return any(
            isinstance(answer, ReviewRef) or answer.decision in ("pause", "stop")
            for answer in list(self.pending)
        )

    @property
    def description(self) -> str:
        """In words, such as "2 steps and the result of Bash"; empty if there is nothing."""
        steps = len(self.steps)
        parts = [f"{steps} step{'s' if steps > 1 else ''}"] if steps else []
        tools = ", ".join(result.tool for result in self.results)
        if tools:
            what = "result" if len(self.results) == 1 else "results"
            parts.append(f"the {what} of {tools}")
        return " and ".join(parts)

    @property
    def is_checkpoint_due(self) -> bool:
        """A checkpoint was asked for that nobody has saved yet."""
        return any(
            not isinstance(answer, ReviewRef) and answer.checkpoint_due
            for answer in list(self.pending)
        )
