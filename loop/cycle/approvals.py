"""What follows when the review of a destructive action closes.

Called by the ruling, the expiry or the abort that closes the review, under the same lock
and in the same commit. An approved action is checked again, since the policy or the switch
may have changed: a refusal here leaves the review open.
"""

from __future__ import annotations

import json
from functools import partial

from django.db.models import QuerySet

from common.errors import Invalid, RateLimited
from guidance.core.loop.guardrails import check_cap
from guidance.core.loop.proposals import Proposal, find_proposal_problem
from guidance.models import PolicyVersion
from guidance.selectors import LoadedPolicy, get_policy
from guidance.services import DEFAULT
from ledger.plan import Plan
from ledger.state import OpenReview
from loop.cycle.act import Action
from loop.errors import LoopPaused
from loop.models import Decision, ProjectLoop
from loop.selectors import HOUR

_WORDS = {
    "deny": "A person denied it.",
    "expired": "Nobody approved it in time.",
    "superseded": "The loop's run was ended before anybody ruled.",
}


def handle_review_closed(
    plan: Plan, review: OpenReview, ending: str, actor: str
) -> None:
    decision = Decision.objects.select_related("policy").get(review_id=review.code)
    if decision.outcome != "approval_required":
        return  # it was resolved already
    if ending == "approve":
        _emit(plan, decision, actor=actor)
    else:
        _resolve(plan, decision, "approval_denied", actor=actor, reason=_WORDS[ending])


def _emit(plan: Plan, decision: Decision, *, actor: str) -> None:
    proposal = Proposal(**json.loads(decision.proposal))
    policy = _get_policy_in_force(decision.project_id)
    _refuse_changed(plan, decision, proposal, policy)
    _resolve(
        plan,
        decision,
        "approved_and_emitted",
        actor=actor,
        reason="A person approved it.",
    )
    action = Action(
        decision=str(decision.code),
        proposal=proposal,
        policy=policy,
        trigger_source=decision.trigger_source,
        state_hash=decision.state_hash,
        reasoning=decision.reasoning,
    )
    event = action.emit(plan, proposal.parameters)
    plan.effects.append(
        partial(
            _filter_waiting(decision).update,
            outcome="approved_and_emitted",
            event=json.dumps(event, ensure_ascii=False),
            counted_at=plan.at,
            resolved_at=plan.at,
        )
    )


def _refuse_changed(
    plan: Plan, decision: Decision, proposal: Proposal, policy: LoadedPolicy
) -> None:
    """An action emitted now has to pass today's switch, policy and cap."""
    loop = ProjectLoop.objects.select_related("paused_by").get(pk=decision.project_id)
    paused = loop.describe_pause()
    if paused is not None:
        raise LoopPaused(f"The loop is {paused}. Resume it first, or deny this.")
    problem = find_proposal_problem(proposal, policy.policy.loop.kinds)
    if problem is not None:
        raise Invalid(f"The policy has changed: {problem}. Deny this action.")
    others = Decision.objects.filter(
        project_id=decision.project_id,
        action=decision.action,
        counted_at__gt=plan.at - HOUR,
    ).exclude(pk=decision.pk)
    met = check_cap(policy.policy.loop, decision.action, others.count())
    if met is not None:
        oldest = others.order_by("counted_at").values_list("counted_at", flat=True)
        first = oldest.first()
        wait = (first + HOUR - plan.at).total_seconds() if first else HOUR.seconds
        raise RateLimited(
            f"Hourly limit reached: {met.message}. Approve it later.",
            retry_after=int(wait) + 1,
        )


def _resolve(
    plan: Plan, decision: Decision, outcome: str, *, actor: str, reason: str
) -> None:
    plan.note(
        "loop.resolved",
        actor=actor,
        payload={
            "decision": str(decision.code),
            "outcome": outcome,
            "reason": reason,
        },
    )
    if outcome == "approval_denied":
        plan.effects.append(
            partial(
                _filter_waiting(decision).update,
                outcome=outcome,
                counted_at=None,
                resolved_at=plan.at,
            )
        )


def _filter_waiting(decision: Decision) -> QuerySet[Decision]:
    return Decision.objects.filter(pk=decision.pk, outcome="approval_required")


def _get_policy_in_force(project_id: int) -> LoadedPolicy:
    """Only reads: no policy may be published inside this transaction."""
    newest = (
        PolicyVersion.objects.filter(project_id=project_id, name=DEFAULT)
        .order_by("-version")
        .values_list("pk", flat=True)
        .first()
    )
    assert newest is not None  # the decision was made under one
    return get_policy(newest)
