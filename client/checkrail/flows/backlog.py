"""Steps and call results that the server has not answered, and answers not acted on."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from checkrail.answers import Decision, ReviewRef, Settled
from checkrail.errors import CheckrailError
from checkrail.flows.usage import Usage
from checkrail.transport.effects import Request


@dataclass(eq=False)
class StepReport:
    """A step to send. `awaited` while the call that reported it is waiting; `unpriced`
    until its cost is known, which it is before it is sent."""

    fields: Mapping[str, Any]
    awaited: bool = False
    unpriced: Sequence[Usage] = ()
    decision: Decision | None = None
    refusal: CheckrailError | None = None

    @property
    def is_settled(self) -> bool:
        return self.decision is not None or self.refusal is not None


@dataclass(eq=False)
class CallResult:
    """A call's result to send. `awaited` while the call that reports it is waiting;
    `unpriced` until its cost is known."""

    tool: str
    request: Request
    awaited: bool = False
    unpriced: Sequence[Usage] = ()
    settled: Settled | None = None
    refusal: CheckrailError | None = None
    # Its answer did not follow the API.
    had_bad_answer: bool = False


@dataclass(eq=False)
class Backlog:
    """Steps and results without an answer, in order, and answers not acted on yet."""

    lock: Any
    steps: deque[StepReport] = field(default_factory=deque)
    results: deque[CallResult] = field(default_factory=deque)
    pending: deque[Decision | ReviewRef] = field(default_factory=deque)
    errors: deque[Exception] = field(default_factory=deque)
    # How many steps go into one request.
    batch_size: int = 1

    @property
    def is_blocked(self) -> bool:
        """A pause or a stop is pending: nothing may be sent before it is obeyed."""
        return any(
            isinstance(answer, ReviewRef) or answer.decision in ("pause", "stop")
            for answer in list(self.pending)
        )

    @property
    def description(self) -> str:
        """What is unsent, such as "2 steps and the result of Bash"; empty if nothing is."""
        steps = len(self.steps)
        parts = [f"{steps} step{'s' if steps > 1 else ''}"] if steps else []
        tools = ", ".join(result.tool for result in self.results)
        if tools:
            what = "result" if len(self.results) == 1 else "results"
            parts.append(f"the {what} of {tools}")
        return " and ".join(parts)

    @property
    def is_checkpoint_due(self) -> bool:
        """A checkpoint was asked for and is not saved yet."""
        return any(
            not isinstance(answer, ReviewRef) and answer.checkpoint_due
            for answer in list(self.pending)
        )
