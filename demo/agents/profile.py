"""What a demo agent is made of: tasks, usual turns, and how it gets into trouble."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What a run is about."""

    text: str
    labels: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool that the agent wants to use: the gateway is asked before it does.

    `asks` is what a call of this kind says beside its tool, `output` what comes of it.
    """

    kind: Literal["command", "tool", "edit"]
    tool: str
    asks: dict[str, Any]
    output: str

    @property
    def body(self) -> dict[str, Any]:
        return {"kind": self.kind, "tool": self.tool, **self.asks}

    @property
    def signature(self) -> str:
        return f"{self.tool}:{' '.join(map(str, self.asks.values()))}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedStep:
    """A part of what the agent plans. Several calls are planned as one by their shape."""

    purpose: str
    calls: tuple[Call, ...]
    paths: tuple[str, ...] = ()

    @property
    def body(self) -> dict[str, Any]:
        first, count = self.calls[0], len(self.calls)
        shape = {"shape": "shape"} if count > 1 else {}
        planned = {"tool": first.tool, **first.asks, "count": count, **shape}
        return {
            "purpose": self.purpose,
            "calls": [planned],
            "paths": [*self.paths],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A plan that the agent submits. `beside` comes before its last call, and makes a call
    that nobody has planned: a person is asked about that one."""

    title: str
    steps: tuple[PlannedStep, ...]
    beside: Turn
    minutes: int = 120

    @property
    def body(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "steps": [step.body for step in self.steps],
            "limits": {"time_ms": self.minutes * 60_000},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """Quality gates that the agent puts to its work: what it finds, attempt by attempt.

    `fails` are the reasons of its first verdicts, `passes` that of the last one.
    """

    gates: tuple[str, ...]
    fails: tuple[str, ...] = ()
    passes: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """How the model ended a turn: the server says whether it is done."""

    content: str
    finish_reason: Literal["stop", "tool_calls"] = "stop"
    last_event: Literal["tool_result", "assistant"] = "tool_result"

    @property
    def body(self) -> dict[str, Any]:
        return {
            "finish_reason": self.finish_reason,
            "last_event": self.last_event,
            "content": self.content,
        }


@dataclass(frozen=True, slots=True)
class Turn:
    """One step as the agent would describe it; `does` is the step's signature."""

    summary: str
    does: str
    rework: bool = False
    failed_calls: int = 0
    # Made before the step is reported.
    call: Call | None = None
    check: Check | None = None
    stop: Stop | None = None
    # A run of its own for a part of the task; the agent works on both.
    starts: Profile | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A question or a request, in the agent's own words."""

    kind: Literal["question", "request"]
    title: str
    detail: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """Where a run goes wrong: after about `after` usual turns, these, again and again.

    Each such turn costs `growth` more than the one before and adds `doubt`.
    """

    after: int
    turns: tuple[Turn, ...] = ()
    growth: float = 0.0
    doubt: float = 0.0
    # Where there are any, the agent asks one of them instead.
    asks: tuple[Ask, ...] = ()
    # Or wants to make one of these calls, about which a person is asked.
    calls: tuple[Call, ...] = ()
    # Or submits one of these plans, and keeps to it but for one call.
    plans: tuple[Proposal, ...] = ()
    # Or does not pass one of these checks.
    checks: tuple[Check, ...] = ()
    # Or ends a turn in one of these ways.
    stops: tuple[Stop, ...] = ()
    budget: dict[str, int] = field(default_factory=dict)
    # Does it lead to a person? Throttling and a spent budget do not.
    needs_person: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    name: str
    intent: str
    tasks: tuple[Task, ...]
    usual: tuple[Turn, ...]
    ending: tuple[Turn, ...]
    done: str
    length: int
    tokens: int
    budget: dict[str, int]
    trouble: Trouble | None = None
    # Seconds until its first run, and between two steps once the demo is under way.
    begins_after: float = 0.0
    pace: float = 5.0
    # Of the tests that it reports in the end, so many fail.
    failed_tests: int = 0
