"""A plan is approved by a ruling: as the agent proposed it, or as a person changed it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from pydantic import ValidationError

from common.errors import Invalid
from guidance.core.canonical import to_canonical_json
from guidance.core.jcs import read_as_stored
from guidance.core.money import parse_usd
from guidance.core.plans.judging import judge_plan
from guidance.core.plans.matching import AskedRules
from guidance.core.plans.proposal import PlanProblem, Proposal
from guidance.core.plans.words import get_text, shorten_line
from guidance.core.policy import Policy
from guidance.core.reviews.four_eyes import count_needed
from guidance.own_server import get_own_server
from guidance.redactor import get_fingerprint_key
from guidance.selectors import get_policy
from ledger.chain import format_timestamp
from ledger.plan import Plan
from reviews.agent_plans.ending import REPLACED, end_plan
from reviews.models import Kind, Review, ReviewApproval
from reviews.queue.subjects import find_subject
from reviews.schemas.plans import PlanIn

_KEPT = ("number", "tool", "key", "shape_key", "rules", "count")
_STEP = ("number", "purpose", "paths", "scope")
_DOCUMENT = ("title", "steps", "limits")
Document = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanApproval:
    """`content` is the plan as it is approved, judged; `amended` the same where a person
    has changed it."""

    content: Document
    amended: Document | None = None

    def give(self, plan: Plan, *, review: str, actor: str) -> None:
        """It counts from this moment on; the one before it ends."""
        end_plan(plan, reason=REPLACED, actor=actor)
        limits = self.content["limits"]
        cost = limits["cost_usd"]
        plan.add_entry(
            "plan.approved",
            actor=actor,
            payload={
                "plan": self.content["plan"],
                "review": review,
                "title": self.content["title"],
                "steps": [_build_step(step) for step in self.content["steps"]],
                "limits": {
                    "tool_calls": limits["tool_calls"],
                    "time_ms": limits["time_ms"],
                    "cost_micros": None if cost is None else parse_usd(cost),
                },
                "ends_at": format_timestamp(
                    plan.at + timedelta(milliseconds=limits["time_ms"])
                ),
                "cost_before_micros": plan.run.used.cost_micros,
            },
        )


def build_plan_approval(
    review: Review,
    *,
    action: str,
    amended: Document | None,
    changed: ReviewApproval | None,
) -> PlanApproval | None:
    """The plan in this ruling; None if it approves none. `changed` is what somebody has
    made of it before, where it takes several people."""
    if review.kind != Kind.PLAN or action not in {"approve", "amend"}:
        return None
    content: Document = json.loads(review.content)
    if action == "amend":
        return _amend(review, content, amended)
    if changed is not None:
        other: Document = json.loads(changed.amended or "{}")
        return PlanApproval(content=other, amended=other)
    return PlanApproval(content=content)


def judge_proposal(proposal: Proposal, *, code: str, policy: Policy) -> Document:
    """By the gates of calls, as they are today."""
    try:
        return judge_plan(
            proposal,
            code=code,
            tools=policy.tools,
            rules=AskedRules(
                always_ask=policy.tools.always_ask, severity=policy.reviews.severity
            ),
            fingerprint_key=get_fingerprint_key(),
            server=get_own_server(),
        )
    except PlanProblem as problem:
        place = ".".join(map(str, problem.loc))
        raise Invalid(
            f"{place}: {problem.message}.",
            errors=[{"loc": [*problem.loc], "message": problem.message}],
        ) from None


def _amend(review: Review, content: Document, amended: Document | None) -> PlanApproval:
    """What is left out of the document stays as it was proposed."""
    if not amended:
        raise _build_refusal([], "say what is planned instead")
    before = {name: build_document(content)[name] for name in _DOCUMENT}
    try:
        body = PlanIn.model_validate({**before, **amended})
    except ValidationError as error:
        raise Invalid(
            "The amended plan is not acceptable.",
            errors=[
                {"loc": ["amended", *each["loc"]], "message": each["msg"]}
                for each in error.errors(include_input=False, include_url=False)
            ],
        ) from None
    policy = get_policy(review.run.policy_id).policy
    judged = judge_proposal(body.build_proposal(), code=content["plan"], policy=policy)
    _refuse_uncovered(judged)
    _refuse_fewer_eyes(review, judged, policy)
    return PlanApproval(content=judged, amended=judged)


def _refuse_uncovered(judged: Document) -> None:
    """Nobody is to believe that a call goes through which asks all the same."""
    for step in judged["steps"]:
        for call in step["calls"]:
            if not call["covered"]:
                place = ["steps", step["number"] - 1, "calls", call["number"] - 1]
                text = shorten_line(get_text(call))
                raise _build_refusal(place, f"no plan covers {text}: {call['why_not']}")


def _refuse_fewer_eyes(review: Review, judged: Document, policy: Policy) -> None:
    """A change does not put before one person what takes several."""
    subject = find_subject(Kind.PLAN, judged, policy.reviews.severity)
    needed = count_needed(
        policy.four_eyes,
        kind=Kind.PLAN,
        severity=subject.severity,
        names=subject.names,
        labels=review.run.labels,
    )
    if needed > review.approvals_needed:
        raise _build_refusal(
            ["steps"], "this takes more people than the plan did: deny it instead"
        )


def build_document(content: Mapping[str, Any]) -> Document:
    """The plan as an agent sends it, of what was judged."""
    return {
        "title": content["title"],
        "steps": [
            {
                "purpose": step["purpose"],
                "paths": step["paths"],
                "calls": [_build_call(call) for call in step["calls"]],
            }
            for step in content["steps"]
        ],
        "limits": content["limits"],
    }


def to_amended_text(approval: PlanApproval | None) -> str | None:
    if approval is None or approval.amended is None:
        return None
    return to_canonical_json(read_as_stored(approval.amended))


def _build_call(call: Mapping[str, Any]) -> Document:
    shown = call["shown"]
    named = "command" if call["call_kind"] == "command" else "arguments"
    shape = {"shape": call["scope"]} if call["scope"] != "exact" else {}
    return {
        "tool": call["tool"],
        named: shown[named],
        "count": call["count"],
        **shape,
    }


def _build_step(step: Mapping[str, Any]) -> Document:
    calls = [
        {name: call[name] for name in _KEPT}
        for call in step["calls"]
        if call["covered"]
    ]
    return {**{name: step[name] for name in _STEP}, "calls": calls}


def _build_refusal(place: list[str | int], message: str) -> Invalid:
    loc = ["amended", *place]
    said = f"{'.'.join(map(str, loc))}: {message}."
    return Invalid(said, errors=[{"loc": loc, "message": message}])
