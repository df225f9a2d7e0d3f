"""Stop a step or block a call that needs a person when no more reviews may open."""

from __future__ import annotations

from dataclasses import replace

from guidance.core.policy.caps import CapReached
from guidance.core.steps.findings import Finding
from guidance.core.steps.judge_step import StepVerdict
from guidance.core.tools.findings import CallFinding
from guidance.core.tools.judge_call import CallVerdict

GATE = "review_limit"
OPEN_REVIEWS = "open reviews"


def stop_at_cap(verdict: StepVerdict, reached: CapReached | None) -> StepVerdict:
    """A step that has to wait for a person, where nobody can be asked: it stops."""
    if reached is None or verdict.decision != "pause":
        return verdict
    finding = Finding(
        gate=GATE,
        decision="stop",
        message=f"{reached.describe(OPEN_REVIEWS)}: nobody can be asked about this run",
        value=reached.count,
        limit=reached.limit,
    )
    return replace(verdict, decision="stop", findings=(*verdict.findings, finding))


def block_at_cap(verdict: CallVerdict, reached: CapReached | None) -> CallVerdict:
    """A call that needs a person, where nobody can be asked: it is blocked."""
    if reached is None or verdict.decision != "require-confirmation":
        return verdict
    return verdict.add_finding(
        CallFinding(
            gate=GATE,
            decision="block",
            message=f"{reached.describe(OPEN_REVIEWS)}: nobody can be asked about this",
            remediation="Wait until people have closed some of them, then ask again.",
            details=reached.to_json(),
        )
    )
