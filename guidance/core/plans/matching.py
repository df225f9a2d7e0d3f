"""Whether an approved plan covers a call: a person has said beforehand what they would be
asked now.

Only findings that ask a person are answered by it. What blocks a call stays a block, and
what is outside the plan is asked as before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from guidance.core.arguments import is_allowlisted
from guidance.core.plans.paths import are_paths_below
from guidance.core.reviews.section import SeverityRules
from guidance.core.reviews.severity import Reason, decide_severity
from guidance.core.runs.plans import ApprovedCall, ApprovedStep, RunPlan
from guidance.core.shell_commands.limits import MAX_FINDINGS
from guidance.core.shell_commands.rules.rule import GUARD
from guidance.core.tools.calls import Call, CommandCall
from guidance.core.tools.findings import CallFinding
from guidance.core.tools.judge_call import CallVerdict
from guidance.core.tools.permission_shapes import (
    build_exact_text,
    build_permission_key,
    build_shape_text,
)
from guidance.core.vocabulary import choose_most_severe_call

GATE = "plan"
ASKS = "require-confirmation"
# The kind of a review of a call.
REVIEW = "confirmation"
_ENDS = {
    "time": "its time is over",
    "cost": "its cost is used up",
    "calls": "its calls are used up",
    "used": "all that it names was done",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedRules:
    """What a policy says of rules that ask: which are always asked about, and how severe
    they are."""

    always_ask: tuple[str, ...]
    severity: SeverityRules

    def needs_exact(self, finding: CallFinding) -> bool:
        """Whether a plan answers it only where it names the very call: what is critical,
        always asked about, touches the guard, or nobody could read."""
        rule = name_asking_rule(finding) or ""
        return (
            self.decide_severity([finding]) == "critical"
            or finding.gate in {GUARD, "confirm"}
            or bool(finding.details.get("uninspectable"))
            or is_allowlisted(rule, self.always_ask)
        )

    def decide_severity(self, asking: Iterable[CallFinding]) -> str:
        """That of a review in which these ask."""
        reasons = [
            Reason(
                gate=finding.gate,
                rule=name_asking_rule(finding) or "",
                severity=finding.details.get("severity"),
            )
            for finding in asking
        ]
        return decide_severity(self.severity, kind=REVIEW, reasons=reasons)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallKeys:
    """What names a call; no shape where only the exact call will do."""

    exact: str
    shape: str


def build_keys(call: Call) -> CallKeys:
    call = drop_repeated_command(call)
    shape = build_shape_text(call)
    return CallKeys(
        exact=build_permission_key(build_exact_text(call)),
        shape="" if shape is None else build_permission_key(shape),
    )


def drop_repeated_command(call: Call) -> Call:
    """A command whose arguments say nothing but the same command again."""
    if isinstance(call, CommandCall) and call.arguments == {"command": call.command}:
        return replace(call, arguments=None)
    return call


def name_asking_rule(finding: CallFinding) -> str | None:
    """The rule by which it asks; None for what a plan never answers: trouble in a gate,
    and the agent's own wish to be asked."""
    if "rule" in finding.details:
        return str(finding.details["rule"])
    by_policy = finding.gate == "confirm" and finding.details.get("by") == "policy"
    return "confirm" if by_policy else None


def list_asking(findings: Iterable[CallFinding]) -> list[CallFinding]:
    return [finding for finding in findings if finding.decision == ASKS]


def find_unanswerable(verdict: CallVerdict) -> str | None:
    """Why no plan covers such a call, whatever it names."""
    if verdict.decision == "block":
        return "it is blocked"
    if verdict.redacted:
        return "it has a secret in it"
    asking = list_asking(verdict.findings)
    if len(asking) >= MAX_FINDINGS:
        return "there may be more to ask about than was told"
    if any(name_asking_rule(finding) is None for finding in asking):
        return "it is asked about by no rule that a plan could name"
    return None


def apply_plan(
    verdict: CallVerdict,
    plan: RunPlan | None,
    *,
    rules: AskedRules,
    cost_micros: int,
    at: datetime,
) -> CallVerdict:
    """With what the plan that stands says of the call: it serves a step, or is outside.
    What is blocked is left alone, and so is all that is neither asked nor planned."""
    if plan is None or verdict.decision == "block":
        return verdict
    asks = verdict.decision == ASKS
    end = plan.find_end(cost_micros=cost_micros, at=at)
    problem = _ENDS[end] if end else find_unanswerable(verdict)
    if problem is None:
        found = _find_planned(verdict, plan, rules)
        if not isinstance(found, str):
            return _serve_step(verdict, plan, *found)
        problem = found
    finding = CallFinding(
        gate=GATE,
        decision="allow",
        message=f"Outside the plan: {problem}",
        details={"plan": plan.code, "step": None, "call": None},
    )
    said = (*verdict.findings, finding) if asks else verdict.findings
    return replace(verdict, findings=said)


def get_plan_facts(verdict: CallVerdict, plan: RunPlan | None) -> dict[str, Any]:
    """What stands in the entry of a call that was judged under a plan."""
    if plan is None or verdict.decision == "block":
        return {}
    for finding in verdict.findings:
        if finding.gate == GATE and finding.details.get("step") is not None:
            names = ("plan", "step", "call", "use", "asked")
            return {"plan": {name: finding.details[name] for name in names}}
    return {"plan": {"plan": plan.code, "step": None}}


def is_answered(payload: Mapping[str, Any]) -> bool:
    """Whether a person would have been asked about this call, but for the plan."""
    return bool((payload.get("plan") or {}).get("asked"))


def _serve_step(
    verdict: CallVerdict, plan: RunPlan, step: ApprovedStep, call: ApprovedCall
) -> CallVerdict:
    asked = verdict.decision == ASKS
    finding = CallFinding(
        gate=GATE,
        decision="allow",
        message=(
            f"Step {step.number} of the approved plan, {step.purpose}: "
            f"call {call.used + 1} of {call.count}"
        ),
        details={
            "plan": plan.code,
            "review": plan.review,
            "step": step.number,
            "call": call.number,
            "use": call.used + 1,
            "asked": asked,
        },
    )
    # What else was found stays: a warning is still one.
    rest = [each.decision for each in verdict.findings if each.decision != ASKS]
    decision = choose_most_severe_call(["allow", *rest]) if asked else verdict.decision
    return replace(verdict, decision=decision, findings=(*verdict.findings, finding))


def _find_planned(
    verdict: CallVerdict, plan: RunPlan, rules: AskedRules
) -> tuple[ApprovedStep, ApprovedCall] | str:
    """The first call of the plan that covers it, or why none does."""
    keys, problems = build_keys(verdict.call), []
    for step in plan.steps:
        for call in step.calls:
            exact = call.key == keys.exact
            if not exact and not (call.shape_key and call.shape_key == keys.shape):
                continue
            problem = _find_problem(verdict, step, call, rules, exact=exact)
            if problem is None:
                return step, call
            problems.append(problem)
    return problems[-1] if problems else "no step of it names this call"


def _find_problem(
    verdict: CallVerdict,
    step: ApprovedStep,
    call: ApprovedCall,
    rules: AskedRules,
    *,
    exact: bool,
) -> str | None:
    if not call.left:
        return f"step {step.number} names it {call.count} times, and no more"
    if step.paths and not are_paths_below(verdict.call, step.paths):
        return f"step {step.number} covers nothing outside {', '.join(step.paths)}"
    for finding in list_asking(verdict.findings):
        rule = name_asking_rule(finding)
        if rule not in call.rules:
            return f"nobody was asked about {rule} in step {step.number}"
        if not exact and rules.needs_exact(finding):
            return f"{rule} is asked about unless the plan names the very call"
    return None
