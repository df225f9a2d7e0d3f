"""What follows when the review of a destructive action closes.

Read and decided by the ruling, the expiry or the abort that closes the review, under the
same lock and in the same commit. An approved action is checked again, since the policy or
the switch may have changed: a refusal here leaves the review open.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from django.db.models import QuerySet

from common.errors import Invalid, RateLimited
from guidance.core.loop.guardrails import check_cap
from guidance.core.loop.proposals import Proposal, find_proposal_problem
from guidance.selectors import LoadedPolicy, find_active_id, get_policy
from guidance.services import DEFAULT
from ledger.plan import Plan
from ledger.state import OpenReview, RunState
from ledger.writer.halts import Halted, KnownHalt, read_halts
from loop.cycle.act import Action
from loop.errors import LoopPaused
from loop.models import Decision, ProjectLoop
from loop.selectors import HOUR
from reviews.plan import FollowUps

_WORDS = {
    "deny": "A person denied it.",
    "expired": "Nobody approved it in time.",
    "superseded": "The loop's run was ended before anybody ruled.",
}


@dataclass(frozen=True, kw_only=True)
class ActionEnding:
    """What follows from the end of one decision's review. `counted` is when decisions of
    the same action have counted in the last hour, oldest first, without this one."""

    decision: Decision
    paused: str | None
    halt: KnownHalt | None
    policy: LoadedPolicy
    counted: Sequence[datetime]

    def __call__(self, plan: Plan, *, ending: str, actor: str) -> None:
        if self.decision.outcome != "approval_required":
            return  # it was resolved already
        if ending == "approve":
            self._emit(plan, actor=actor)
        else:
            self._resolve(plan, "approval_denied", actor=actor, reason=_WORDS[ending])

    def _emit(self, plan: Plan, *, actor: str) -> None:
        decision = self.decision
        proposal = Proposal(**json.loads(decision.proposal))
        self._refuse_changed(plan, proposal)
        self._resolve(
            plan, "approved_and_emitted", actor=actor, reason="A person approved it."
        )
        action = Action(
            decision=str(decision.code),
            proposal=proposal,
            policy=self.policy,
            trigger_source=decision.trigger_source,
            state_hash=decision.state_hash,
            reasoning=decision.reasoning,
        )
        event = action.emit(plan, proposal.parameters)
        plan.side_updates.append(
            partial(
                _filter_waiting(decision).update,
                outcome="approved_and_emitted",
                event=json.dumps(event, ensure_ascii=False),
                counted_at=plan.at,
                resolved_at=plan.at,
            )
        )

    def _refuse_changed(self, plan: Plan, proposal: Proposal) -> None:
        """An action emitted now has to pass today's halts, switch, policy and cap."""
        if self.halt is not None:
            raise Halted.from_halt(self.halt)
        if self.paused is not None:
            raise LoopPaused(
                f"The loop is {self.paused}. Resume it first, or deny this."
            )
        section = self.policy.policy.loop
        problem = find_proposal_problem(proposal, section.kinds)
        if problem is not None:
            raise Invalid(f"The policy has changed: {problem}. Deny this action.")
        met = check_cap(section, self.decision.action, len(self.counted))
        if met is not None:
            first = self.counted[0] if self.counted else plan.at
            wait = (first + HOUR - plan.at).total_seconds()
            raise RateLimited(
                f"Hourly limit reached: {met.message}. Approve it later.",
                retry_after=int(wait) + 1,
            )

    def _resolve(self, plan: Plan, outcome: str, *, actor: str, reason: str) -> None:
        plan.add_entry(
            "loop.resolved",
            actor=actor,
            payload={
                "decision": str(self.decision.code),
                "outcome": outcome,
                "reason": reason,
            },
        )
        if outcome == "approval_denied":
            plan.side_updates.append(
                partial(
                    _filter_waiting(self.decision).update,
                    outcome=outcome,
                    counted_at=None,
                    resolved_at=plan.at,
                )
            )


def load_action_endings(
    run: RunState, reviews: Sequence[OpenReview], at: datetime
) -> FollowUps:
    """By review, with a few queries for all of them."""
    codes = [review.code for review in reviews]
    decisions = Decision.objects.filter(review_id__in=codes).defer("snapshot", "shadow")
    loop = ProjectLoop.objects.select_related("paused_by").get(pk=run.project_id)
    paused, policy = loop.describe_pause(), _get_policy_in_force(run.project_id)
    halt = read_halts(run.project_id).find(run)
    counted = _list_counted(run.project_id, at=at)
    return {
        str(decision.review_id): ActionEnding(
            decision=decision,
            paused=paused,
            halt=halt,
            policy=policy,
            counted=[
                moment
                for pk, moment in counted.get(decision.action, ())
                if pk != decision.pk
            ],
        )
        for decision in decisions
    }


def _list_counted(
    project_id: int, *, at: datetime
) -> Mapping[str, Sequence[tuple[int, datetime]]]:
    """The decisions that count against the caps of this hour, by action."""
    rows = Decision.objects.filter(project_id=project_id, counted_at__gt=at - HOUR)
    found = defaultdict(list)
    for action, pk, moment in rows.order_by("counted_at").values_list(
        "action", "pk", "counted_at"
    ):
        assert moment is not None
        found[action].append((pk, moment))
    return found


def _filter_waiting(decision: Decision) -> QuerySet[Decision]:
    return Decision.objects.filter(pk=decision.pk, outcome="approval_required")


def _get_policy_in_force(project_id: int) -> LoadedPolicy:
    """Only reads: no policy may be published inside this transaction."""
    active = find_active_id(project_id=project_id, name=DEFAULT)
    assert active is not None  # the decision was made under one
    return get_policy(active)
