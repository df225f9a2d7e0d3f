"""Record: a decision with everything it was made on, as ledger entry and as row."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from guidance.core.loop.facts import Snapshot, Trigger
from guidance.core.loop.guardrail_facts import GuardrailFacts
from guidance.core.loop.guardrails import GUARDRAILS_VERSION, RuledProposal
from guidance.core.loop.proposals import Proposal
from guidance.selectors import LoadedPolicy
from ledger.plan import Plan
from loop.cycle.act import LOOP_ACTOR, Action
from loop.cycle.facts import get_root_id
from loop.cycle.llm_decider import ModelAnswer
from loop.cycle.targets import ActionTarget
from loop.models import Decision, Signal
from reviews.models import Kind
from reviews.plan import open_review
from reviews.rulings.expiry import DENY

NOT_ASKED = "not asked: the loop is paused, or today's budget is used up"


def build_trigger(signal: Signal) -> Trigger:
    return Trigger(
        type=signal.type,
        source=signal.source,
        identity=signal.identity,
        data=json.loads(signal.data),
    )


@dataclass(frozen=True, kw_only=True)
class DecisionRecord:
    signal: Signal
    policy: LoadedPolicy
    snapshot: Snapshot
    proposal: Proposal | None
    facts: GuardrailFacts
    target: ActionTarget
    ruled: RuledProposal
    model_answer: ModelAnswer | None

    def write(self, plan: Plan) -> Decision:
        """Add the entry, the action and the row to the plan; returns the row."""
        payload = self._build_payload()
        seq = plan.next_seq
        plan.add_entry("loop.decided", actor=LOOP_ACTOR, payload=payload)
        event = self._perform_action(plan, payload)
        row = self._build_row(plan, payload, seq=seq, event=event)
        plan.rows.append(row)
        return row

    def _build_payload(self) -> dict[str, Any]:
        return {
            "decision": str(self.signal.decision_code),
            "signal": str(self.signal.code),
            "trigger": build_trigger(self.signal).to_json(),
            "decider": self.policy.policy.loop.decider,
            "snapshot": self.snapshot.to_json(),
            "state_hash": self.snapshot.state_hash,
            "proposal": self.proposal.to_json() if self.proposal else None,
            "shadow": self._build_shadow(),
            "facts": self.facts.to_json(),
            **self.ruled.to_json(),
            "cost_micros": self.model_answer.cost_micros if self.model_answer else 0,
            "review": None,
            "policy": self.policy.build_stamp(),
            "engine": GUARDRAILS_VERSION,
        }

    def _perform_action(
        self, plan: Plan, payload: dict[str, Any]
    ) -> dict[str, Any] | None:
        """Returns the event, or None."""
        outcome, latched = self.ruled.outcome, self.ruled.latched
        if self.proposal is None:
            return None
        action = Action(
            decision=payload["decision"],
            proposal=self.proposal,
            policy=self.policy,
            trigger_source=self.signal.source,
            state_hash=payload["state_hash"],
            reasoning=self.ruled.reasoning,
        )
        if outcome == "emitted":
            return action.emit(plan, action.carry_out(plan, self.target, latched))
        if outcome == "approval_required":
            # The entry is sealed later, so its payload can still name the review.
            payload["review"] = self._open_review(plan, action)
        elif latched is not None:
            action.carry_out(plan, self.target, latched)
        return None

    def _build_row(
        self,
        plan: Plan,
        payload: dict[str, Any],
        *,
        seq: int,
        event: dict[str, Any] | None,
    ) -> Decision:
        signal, ruled = self.signal, self.ruled
        acted = ruled.outcome in {"emitted", "approval_required"}
        return Decision(
            code=signal.decision_code,
            project_id=signal.project_id,
            signal=signal,
            run_id=plan.run.id,
            seq=seq,
            policy_id=self.policy.id,
            trigger_source=signal.source,
            trigger_type=signal.type,
            identity=signal.identity,
            decider=payload["decider"],
            action=ruled.action,
            kind=(self.proposal.kind or "") if self.proposal else "",
            outcome=ruled.outcome,
            reasoning=ruled.reasoning,
            snapshot=_dump(payload["snapshot"]),
            state_hash=payload["state_hash"],
            proposal=_dump(payload["proposal"]),
            shadow=_dump(payload["shadow"]),
            guardrails=_dump(payload["guardrails"]),
            event=_dump(event),
            approval_required=ruled.harm is not None,
            review_id=payload["review"],
            cost_micros=payload["cost_micros"],
            root_id=get_root_id(signal),
            decided_at=plan.at,
            counted_at=plan.at if acted else None,
        )

    def _build_shadow(self) -> dict[str, Any] | None:
        """A model's proposal for comparison, and whether it agrees with the rules."""
        if self.policy.policy.loop.decider != "shadow":
            return None
        model_answer = self.model_answer or ModelAnswer(trouble=NOT_ASKED)
        theirs, ours = model_answer.proposal, self.proposal
        agrees = None
        if theirs is not None and ours is not None:
            agrees = (theirs.action, theirs.kind) == (ours.action, ours.kind)
        return {**model_answer.to_json(), "agrees": agrees}

    def _open_review(self, plan: Plan, action: Action) -> str:
        kind = self.policy.policy.loop.kinds[action.proposal.kind or ""]
        return open_review(
            plan,
            kind=Kind.LOOP_ACTION,
            title=f"Start the loop {kind.name}?",
            content={
                "kind": str(Kind.LOOP_ACTION),
                "action": action.proposal.action,
                "loop": kind.name,
                "description": kind.description,
                "parameters": dict(action.proposal.parameters),
                "harm": self.ruled.harm,
                "reasoning": action.proposal.reasoning,
                "decision": action.decision,
                "trigger": {"type": self.signal.type, "source": self.signal.source},
                "state_hash": action.state_hash,
            },
            actor=LOOP_ACTOR,
            rules=replace(self.policy.policy.reviews, on_expiry=DENY),
        )


def _dump(document: object) -> str:
    return json.dumps(document, ensure_ascii=False)
