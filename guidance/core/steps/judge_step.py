"""The continue gate: every gate is asked, every finding kept, the most severe wins."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from guidance.core.policy import ContinueLimits, Policy
from guidance.core.runs.facts import StepReport
from guidance.core.runs.measures import CYCLE_LIMIT
from guidance.core.runs.memory import Memory
from guidance.core.runs.shared_limits import NOTHING_SHARED, SharedUse
from guidance.core.runs.usage import Budget, Usage
from guidance.core.steps.advice import build_recommended_action
from guidance.core.steps.allowances import allow_findings
from guidance.core.steps.evidence import Evidence, IgnoredWait, build_evidence
from guidance.core.steps.findings import Finding
from guidance.core.steps.gates import REGISTRY
from guidance.core.steps.metrics import Metrics
from guidance.core.steps.scores import SCORE_WINDOW
from guidance.core.vocabulary import choose_most_severe, get_severity

__all__ = [
    "ENGINE_VERSION",
    "FACTS_FIRST_VERSION",
    "KEPT_WAITS_VERSION",
    "ContinueVerdict",
    "Finding",
    "Metrics",
    "StepVerdict",
    "ask_gates",
    "compute_delay",
    "count_kept_steps",
    "count_throttle",
    "is_remembered",
    "judge_step",
]

# Stored with every decision. Any change that would judge stored facts differently, or in
# other words, takes the next number: replay judges again what has the same one.
ENGINE_VERSION = 3
# Since then what the server saw counts, where an agent says something better.
FACTS_FIRST_VERSION = 2
# Since then a run remembers what it was asked to wait.
KEPT_WAITS_VERSION = 3


# Not frozen: that takes three times as long to make (bench batches).
@dataclass(slots=True, kw_only=True)
class ContinueVerdict:
    """What the continue gate answers; never changed.

    `delay_ms` is above zero exactly when the decision is to throttle.
    """

    decision: str
    findings: tuple[Finding, ...]
    metrics: Metrics
    delay_ms: int

    @property
    def checkpoint_due(self) -> bool:
        """Reported with every decision."""
        return self.metrics.steps_until_checkpoint == 0

    @property
    def recommended_action(self) -> str:
        return build_recommended_action(
            decision=self.decision,
            findings=self.findings,
            delay_ms=self.delay_ms,
            checkpoint_due=self.checkpoint_due,
        )

    def to_json(self) -> dict[str, object]:
        return {
            "decision": self.decision,
            "checkpoint_due": self.checkpoint_due,
            "delay_ms": self.delay_ms,
            "findings": [finding.to_json() for finding in self.findings],
            "metrics": self.metrics.to_json(),
            "recommended_action": self.recommended_action,
        }


@dataclass(slots=True, kw_only=True)
class StepVerdict(ContinueVerdict):
    """The answer to a step of a run, with what the run remembers after it."""

    memory: Memory
    used: Usage


def judge_step(
    *,
    policy: Policy,
    report: StepReport,
    memory: Memory,
    used: Usage,
    budget: Budget,
    turns_repeat: int = 0,
    running_ms: int | None = None,
    waited_ms: int | None = None,
    shared: SharedUse = NOTHING_SHARED,
    at: datetime | None = None,
) -> StepVerdict:
    """Judge one step; `memory` and `used` are those before it.

    `turns_repeat` is the length of a cycle that the agent's turns are in, 0 for none.
    `running_ms` is how long the run has been running by the server's clock, `waited_ms`
    how long ago it was throttled.
    `shared` is what it shares with other runs, with this step. `at` is when the step came:
    without it nothing counts that people allowed beforehand.
    """
    limits = policy.continue_limits
    ignored_waits = memory.count_ignored_waits(waited_ms)
    after = memory.add_step(report, kept=count_kept_steps(limits))
    used = used.add_step(report, counted_calls=memory.calls.granted)
    evidence = build_evidence(
        limits=limits,
        report=report,
        trace=after.trace,
        segment=after.segment,
        since_checkpoint=max(0, report.number - after.last_checkpoint_step),
        rework_ratio_total=after.rework_steps / after.steps,
        used=used,
        budget=budget,
        turns_repeat=turns_repeat,
        running_ms=running_ms,
        ignored_wait=IgnoredWait(
            times=ignored_waits, delay_ms=memory.delay_ms, waited_ms=waited_ms
        )
        if ignored_waits > memory.ignored_waits and waited_ms is not None
        else None,
        shared=shared,
    )
    findings, metrics = ask_gates(limits=limits, evidence=evidence)
    decision, delay_ms, counted = "continue", 0, after
    if findings:
        findings = allow_findings(
            findings,
            memory.allowances,
            rules=policy.reviews.allowances,
            step=report.number,
            at=at,
        )
        decisions = [finding.decision for finding in findings]
        decision = choose_most_severe(decisions)
        delay_ms = compute_delay(decision, limits=limits, throttles=memory.throttles)
        counted = count_throttle(after, before=memory, decisions=decisions)
    if delay_ms or ignored_waits:
        counted = counted._replace(delay_ms=delay_ms, ignored_waits=ignored_waits)
    return StepVerdict(
        decision=decision,
        findings=findings,
        metrics=metrics,
        delay_ms=delay_ms,
        memory=counted,
        used=used,
    )


def count_throttle(
    after: Memory, *, before: Memory, decisions: Iterable[str]
) -> Memory:
    """Throttles in a row lengthen the next one's delay."""
    throttled = "throttle" in decisions
    return after._replace(throttles=before.throttles + 1) if throttled else after


def ask_gates(
    *, limits: ContinueLimits, evidence: Evidence
) -> tuple[tuple[Finding, ...], Metrics]:
    """What every gate has to say about the evidence, and the figures it rests on."""
    findings: list[Finding] = []
    unjudged = evidence.list_not_evaluated()
    for name, gate in REGISTRY.items():
        try:
            finding = gate(limits, evidence)
            if finding is not None:
                get_severity(finding.decision)
        except Exception as error:  # trouble in a gate holds the run, whatever it is
            unjudged = (*unjudged, name)
            finding = _make_failure(name, error)
        if finding is not None:
            findings.append(finding)
    metrics = Metrics(evidence, limits.checkpoint_interval_steps, unjudged)
    return tuple(findings), metrics


def compute_delay(decision: str, *, limits: ContinueLimits, throttles: int) -> int:
    """How long to wait after this decision; `throttles` came in a row before it."""
    if decision != "throttle":
        return 0
    # No delay is longer than a day, less than 2^27 ms: more doublings change nothing.
    return min(limits.throttle_max_ms, limits.throttle_base_ms << min(throttles, 27))


def _make_failure(name: str, error: Exception) -> Finding:
    return Finding(
        gate=name,
        decision="pause",
        message=f"The {name} check could not be made ({type(error).__name__})",
        value=None,
        limit=None,
    )


def is_remembered(memory: Memory, *, limits: ContinueLimits) -> bool:
    """Whether a run remembers all that gates with these limits look back at, though its
    steps were judged by others."""
    return len(memory.trace) >= min(memory.segment, count_kept_steps(limits) - 1)


def count_kept_steps(limits: ContinueLimits) -> int:
    """How many steps the gates look back at: no more are remembered."""
    return max(
        SCORE_WINDOW,
        limits.rework_window,
        limits.slope_window,
        limits.repeat_limit * CYCLE_LIMIT,
    )
