"""A plan as an agent proposes it. Nothing but data, and its limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from guidance.core.tools.calls import Call, CommandCall, ToolCall

STEPS_LIMIT = 50
CALLS_LIMIT = 20
# Of the whole plan: a run remembers all of it.
ALL_CALLS_LIMIT = 100
PATHS_LIMIT = 20
COUNT_LIMIT = 1_000
HOUR_MS = 3_600_000
TIME_LIMIT_MS = 7 * 24 * HOUR_MS


class PlanProblem(Exception):
    """What is wrong with a plan, and where."""

    def __init__(self, loc: tuple[str | int, ...], message: str) -> None:
        super().__init__(message)
        self.loc = loc
        self.message = message


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedCall:
    """A command, or the arguments of a tool. `shape` is empty for exactly this call."""

    tool: str
    command: str | None = None
    arguments: Mapping[str, Any] | None = None
    shape: str = ""
    count: int = 1

    def build_call(self) -> Call:
        if self.command is not None:
            return CommandCall(tool=self.tool, command=self.command)
        return ToolCall(tool=self.tool, arguments=dict(self.arguments or {}))


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedStep:
    purpose: str
    calls: tuple[ProposedCall, ...]
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanLimits:
    """`cost_micros` None: no limit but the run's own."""

    tool_calls: int
    time_ms: int = HOUR_MS
    cost_micros: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    title: str
    steps: tuple[ProposedStep, ...]
    limits: PlanLimits
