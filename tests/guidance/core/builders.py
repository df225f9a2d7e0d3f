"""Plain builders of facts, with keyword overrides."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from guidance.core.policy import Policy, load_policy
from guidance.core.runs.facts import StepReport
from guidance.core.runs.memory import Memory
from guidance.core.runs.shared_limits import NOTHING_SHARED, SharedLimit, SharedUse
from guidance.core.runs.trace import StepTrace, Trace
from guidance.core.runs.usage import Budget, Remaining, Usage
from guidance.core.steps.judge_step import ContinueVerdict, StepVerdict, judge_step
from guidance.core.steps.stateless import ContinueFacts, judge_continue

PASSED = SharedLimit(scope="agent_day", part="tokens", limit=1_000, used=1_200)
UNLIMITED = Budget(tokens=None, tool_calls=None, time_ms=None, cost_micros=None)


def make_report(number: int = 1, **overrides: Any) -> StepReport:
    fields: dict[str, Any] = {"tokens": 1000, "tool_calls": 1, **overrides}
    return StepReport(number=number, **fields)


def make_trace(count: int, **overrides: Any) -> Trace:
    fields: dict[str, Any] = {"tokens": 1000, **overrides}
    return Trace(StepTrace(**fields) for _ in range(count))


def make_policy(**continue_limits: object) -> Policy:
    return load_policy({"continue": continue_limits})


def step(report: StepReport, **overrides: Any) -> StepVerdict:
    """Judge one step, the first of its run unless a memory is given."""
    given: dict[str, Any] = {
        "policy": Policy(),
        "memory": Memory(),
        "used": Usage(),
        "budget": UNLIMITED,
        **overrides,
    }
    return judge_step(report=report, **given)


def walk(
    steps: Iterable[dict[str, Any]],
    *,
    waited_ms: int | None = None,
    policy: Policy | None = None,
    budget: Budget = UNLIMITED,
    memory: Memory | None = None,
    used: Usage | None = None,
    shared: SharedUse = NOTHING_SHARED,
) -> list[StepVerdict]:
    """Judge one step after the other, whatever is decided on the way; each comes
    `waited_ms` after the answer before it."""
    verdicts: list[StepVerdict] = []
    memory = memory or Memory()
    used = used or Usage()
    for overrides in steps:
        verdict = step(
            make_report(memory.last_step + 1, **overrides),
            policy=policy or Policy(),
            memory=memory,
            used=used,
            budget=budget,
            waited_ms=waited_ms,
            shared=shared,
        )
        memory, used = verdict.memory, verdict.used
        verdicts.append(verdict)
    return verdicts


def make_facts(**overrides: Any) -> ContinueFacts:
    """A healthy run at step 10, as the seed's own tests describe it."""
    fields: dict[str, Any] = {
        "step_number": 10,
        "total_tokens_used": 5000,
        "total_tool_calls": 20,
        "rework_count": 1,
        "coherence_score": 0.8,
        "uncertainty_score": 0.3,
        "budget_remaining": Remaining(tokens=95_000, tool_calls=980, time_ms=300_000),
        "last_checkpoint_step": 0,
        **overrides,
    }
    return ContinueFacts(**fields)


def ask(**overrides: Any) -> ContinueVerdict:
    """Judge the healthy run with these facts changed."""
    return judge_continue(policy=Policy(), facts=make_facts(**overrides))


def list_gates(verdict: ContinueVerdict) -> list[str]:
    return [finding.gate for finding in verdict.findings]


def get_message(verdict: ContinueVerdict, gate: str) -> str:
    (found,) = (finding for finding in verdict.findings if finding.gate == gate)
    return found.message
