"""A proposed plan, judged by the gates of calls: what would be asked about, what is
blocked, and what exactly an approval would cover."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from guidance.core.canonical import to_canonical_json
from guidance.core.money import format_usd
from guidance.core.plans.matching import (
    AskedRules,
    build_keys,
    find_unanswerable,
    list_asking,
    name_asking_rule,
)
from guidance.core.plans.paths import are_paths_below, normalise_path
from guidance.core.plans.proposal import (
    PlanProblem,
    Proposal,
    ProposedCall,
    ProposedStep,
)
from guidance.core.plans.words import describe_call, describe_uncovered, list_limits
from guidance.core.runs.plans import EXACT, SHAPE
from guidance.core.shell_commands.own_server import USUAL_SERVER, OwnServer
from guidance.core.tools.calls import Call, CommandCall
from guidance.core.tools.findings import CallFinding
from guidance.core.tools.judge_call import CallVerdict, judge_call
from guidance.core.tools.permission_shapes import MAY_CHANGE, build_shape_text
from guidance.core.tools.section import ToolRules

# What is kept of a finding: enough to say why a person would be asked.
_KEPT = ("rule", "severity", "why")
Document = dict[str, Any]


def judge_plan(
    proposal: Proposal,
    *,
    code: str,
    tools: ToolRules,
    rules: AskedRules,
    fingerprint_key: bytes,
    server: OwnServer = USUAL_SERVER,
) -> Document:
    """The plan as it is put before a person. Raises PlanProblem for what cannot be kept."""
    steps = []
    for number, step in enumerate(proposal.steps, 1):
        calls = []
        for place, planned in enumerate(step.calls, 1):
            verdict = judge_call(
                rules=tools,
                call=planned.build_call(),
                fingerprint_key=fingerprint_key,
                server=server,
            )
            loc = ("steps", number - 1, "calls", place - 1)
            calls.append(_judge_planned(planned, verdict, step, rules, place, loc))
        paths = [normalise_path(path) for path in step.paths]
        steps.append(
            {
                "number": number,
                "purpose": step.purpose,
                "paths": paths,
                "calls": calls,
                "scope": [describe_call(call, paths) for call in calls],
            }
        )
    limits = proposal.limits
    cost = limits.cost_micros
    shown = {
        "tool_calls": limits.tool_calls,
        "time_ms": limits.time_ms,
        "cost_usd": None if cost is None else format_usd(cost),
    }
    return {
        "kind": "plan",
        "plan": code,
        "title": proposal.title,
        "steps": steps,
        "limits": shown,
        "limits_in_words": list_limits(limits),
        "not_covered": describe_uncovered(steps),
    }


def list_findings(content: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Those of all calls that an approval would answer."""
    for step in content["steps"]:
        for call in step["calls"]:
            if call["covered"]:
                yield from call["findings"]


def count_asking(content: Mapping[str, Any]) -> int:
    """How many calls of it would be asked about, each as often as it is planned."""
    return sum(
        call["count"]
        for step in content["steps"]
        for call in step["calls"]
        if call["covered"] and call["rules"]
    )


def _judge_planned(
    planned: ProposedCall,
    verdict: CallVerdict,
    step: ProposedStep,
    rules: AskedRules,
    number: int,
    loc: tuple[str | int, ...],
) -> Document:
    scope = _read_scope(planned, loc)
    asking = list_asking(verdict.findings)
    problem = find_unanswerable(verdict)
    if problem is None and step.paths and not are_paths_below(verdict.call, step.paths):
        problem = "it is not certainly below the paths of its step"
    keys = build_keys(verdict.call)
    names = {name_asking_rule(finding) for finding in asking} - {None}
    # The shape of a call with a secret has it in it, too, and covers nothing.
    by_shape = scope == SHAPE and not verdict.redacted
    return {
        "number": number,
        "tool": verdict.tool,
        "call_kind": verdict.call.kind,
        "shown": dict(verdict.shown),
        "scope": scope,
        "covers": _show_shape(verdict.call) if by_shape else "",
        "count": planned.count,
        "decision": verdict.decision,
        "covered": problem is None,
        "why_not": problem or "",
        # By shape these are asked about as before; the very call of the plan is not.
        "exact_only": sorted(
            {
                str(name_asking_rule(finding))
                for finding in asking
                if scope == SHAPE and rules.needs_exact(finding)
            }
        ),
        "rules": sorted(str(name) for name in names),
        "key": "" if verdict.redacted else keys.exact,
        "shape_key": keys.shape if by_shape else "",
        "findings": [_shorten(finding) for finding in verdict.findings],
    }


def _read_scope(planned: ProposedCall, loc: tuple[str | int, ...]) -> str:
    """A shape can only be what a standing permission could cover, too."""
    if planned.shape in ("", EXACT):
        return EXACT
    call = planned.build_call()
    shape = _show_shape(call)
    if not shape or MAY_CHANGE not in (build_shape_text(call) or ""):
        raise PlanProblem(
            (*loc, "shape"), "nothing of this call may change: leave it out"
        )
    if planned.shape not in (SHAPE, shape):
        raise PlanProblem((*loc, "shape"), f"the shape of this call is {shape}")
    return SHAPE


def _show_shape(call: Call) -> str:
    """With # for what may change; of a tool all of its arguments."""
    shape = build_shape_text(call)
    if shape is None:
        return ""
    document = json.loads(shape)
    command = isinstance(call, CommandCall)
    shown = document["command"] if command else to_canonical_json(document["arguments"])
    return str(shown).replace(MAY_CHANGE, "#")


def _shorten(finding: CallFinding) -> Document:
    details = {name: finding.details[name] for name in _KEPT if name in finding.details}
    return {
        "gate": finding.gate,
        "decision": finding.decision,
        "message": finding.message,
        "details": details,
    }
