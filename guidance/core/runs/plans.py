"""A plan that a person approved for a run: which calls it names, and what was used of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

# So much of a step's purpose stands in the finding on a call.
PURPOSE_KEPT = 80
EXACT = "exact"
SHAPE = "shape"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovedCall:
    """`key` names the exact call, `shape_key` calls of its shape, where the plan says so.
    `rules` are those that its approver was asked about."""

    number: int
    key: str
    shape_key: str
    rules: tuple[str, ...]
    count: int
    used: int = 0

    @property
    def left(self) -> int:
        return max(0, self.count - self.used)

    def to_json(self) -> list[Any]:
        return [
            self.number,
            self.key,
            self.shape_key,
            [*self.rules],
            self.count,
            self.used,
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovedStep:
    number: int
    purpose: str
    paths: tuple[str, ...]
    calls: tuple[ApprovedCall, ...]

    def to_json(self) -> list[Any]:
        calls = [call.to_json() for call in self.calls]
        return [self.number, self.purpose, [*self.paths], calls]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """The one plan that stands for a run. `cost_before` is what the run had cost when it
    was approved; `outside` counts calls since then that it does not cover."""

    code: str
    review: str
    ends_at: datetime
    tool_calls: int
    cost_micros: int | None
    cost_before: int
    steps: tuple[ApprovedStep, ...]
    outside: int = 0

    @property
    def used(self) -> int:
        return sum(call.used for step in self.steps for call in step.calls)

    def find_end(self, *, cost_micros: int, at: datetime) -> str | None:
        """Why it covers no call any more, at this moment and this cost of the run; None
        while it does."""
        if at >= self.ends_at:
            return "time"
        limit = self.cost_micros
        if limit is not None and cost_micros - self.cost_before >= limit:
            return "cost"
        if not any(call.left for step in self.steps for call in step.calls):
            return "used"
        return "calls" if self.used >= self.tool_calls else None

    def count_call(self, facts: Mapping[str, Any]) -> RunPlan:
        """With a call that was judged; `facts` are those of its entry."""
        if facts["plan"] != self.code:
            return self
        if facts["step"] is None:
            return replace(self, outside=self.outside + 1)
        steps = tuple(_count_use(step, facts) for step in self.steps)
        return replace(self, steps=steps)

    def list_uses(self) -> list[list[int]]:
        """Step, call and how often, of those that were used."""
        return [
            [step.number, call.number, call.used]
            for step in self.steps
            for call in step.calls
            if call.used
        ]

    def to_json(self) -> list[Any]:
        return [
            self.code,
            self.review,
            self.ends_at.isoformat(),
            self.tool_calls,
            self.cost_micros,
            self.cost_before,
            [step.to_json() for step in self.steps],
            self.outside,
        ]


def _count_use(step: ApprovedStep, facts: Mapping[str, Any]) -> ApprovedStep:
    if step.number != facts["step"]:
        return step
    calls = tuple(
        replace(call, used=call.used + 1) if call.number == facts["call"] else call
        for call in step.calls
    )
    return replace(step, calls=calls)


def read_plan(row: Any) -> RunPlan | None:
    """As a run's memory has it. What cannot be read covers nothing."""
    try:
        code, review, ends_at, tool_calls, cost, before, steps, outside = row
        plan = RunPlan(
            code=str(code),
            review=str(review),
            ends_at=datetime.fromisoformat(ends_at),
            tool_calls=int(tool_calls),
            cost_micros=None if cost is None else int(cost),
            cost_before=int(before),
            steps=tuple(_read_step(*step) for step in steps),
            outside=int(outside),
        )
    except (TypeError, ValueError, OverflowError):
        return None
    return plan if plan.ends_at.tzinfo is not None else None


def _read_step(
    number: Any, purpose: Any, paths: Iterable[Any], calls: Iterable[Any]
) -> ApprovedStep:
    return ApprovedStep(
        number=int(number),
        purpose=str(purpose),
        paths=tuple(map(str, paths)),
        calls=tuple(_read_call(*call) for call in calls),
    )


def _read_call(
    number: Any, key: Any, shape_key: Any, rules: Iterable[Any], count: Any, used: Any
) -> ApprovedCall:
    return ApprovedCall(
        number=int(number),
        key=str(key),
        shape_key=str(shape_key),
        rules=tuple(map(str, rules)),
        count=int(count),
        used=int(used),
    )
