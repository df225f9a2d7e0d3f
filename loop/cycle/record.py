"""Learn: a decision with all it was made on, as its entry and as its row."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from guidance.core.loop.facts import Snapshot, Trigger
from guidance.core.loop.guardrail_facts import RailFacts
from guidance.core.loop.guardrails import RAILS_VERSION, Ruled
from guidance.core.loop.proposals import Proposal
from guidance.core.policy import ReviewRules
from guidance.selectors import LoadedPolicy
from loop.cycle.act import LOOP, Act
from loop.cycle.facts import root_of
from loop.cycle.llm_decider import Asked
from loop.models import Decision, Signal
from reviews.models import Kind
from reviews.plan import Plan
from reviews.rulings.expiry import DENY

NOT_ASKED = "not asked: the loop is paused, or today's budget is used up"


def trigger_of(signal: Signal) -> Trigger:
    return Trigger(
        type=signal.type,
        source=signal.source,
        identity=signal.identity,
        data=json.loads(signal.data),
    )


@dataclass(frozen=True, kw_only=True)
class Record:
    signal: Signal
    policy: LoadedPolicy
    snapshot: Snapshot
    proposal: Proposal | None
    facts: RailFacts
    ruled: Ruled
    asked: Asked | None

    def write(self, plan: Plan) -> Decision:
        """The entry, what the outcome asks for, and the row that people look up."""
        payload = self._payload()
        seq = plan.next_seq
        plan.note("loop.decided", actor=LOOP, payload=payload)
        event = self._act(plan, payload)
        row = self._row(plan, payload, seq=seq, event=event)
        plan.rows.append(row)
        return row

    def _payload(self) -> dict[str, Any]:
        return {
            "decision": str(self.signal.decision_code),
            "signal": str(self.signal.code),
            "trigger": trigger_of(self.signal).to_json(),
            "decider": self.policy.policy.loop.decider,
            "snapshot": self.snapshot.to_json(),
            "state_hash": self.snapshot.state_hash,
            "proposal": self.proposal.to_json() if self.proposal else None,
            "shadow": self._shadow(),
            "facts": self.facts.to_json(),
            **self.ruled.to_json(),
            "cost_micros": self.asked.cost_micros if self.asked else 0,
            "review": None,
            "policy": self.policy.stamp(),
            "engine": RAILS_VERSION,
        }

    def _act(self, plan: Plan, payload: dict[str, Any]) -> dict[str, Any] | None:
        """The event, where there is one."""
        outcome, latched = self.ruled.outcome, self.ruled.latched
        if self.proposal is None:
            return None
        act = Act(
            decision=payload["decision"],
            proposal=self.proposal,
            policy=self.policy,
            trigger_source=self.signal.source,
            state_hash=payload["state_hash"],
            reasoning=self.ruled.reasoning,
        )
        if outcome == "emitted":
            return act.emit(plan, act.take_up(plan, self.facts, latched))
        if outcome == "approval_required":
            # The draft is sealed later, so that the entry can name its review.
            payload["review"] = self._ask_person(plan, act)
        elif latched is not None:
            act.take_up(plan, self.facts, latched)
        return None

    def _row(
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
            snapshot=_text(payload["snapshot"]),
            state_hash=payload["state_hash"],
            proposal=_text(payload["proposal"]),
            shadow=_text(payload["shadow"]),
            guardrails=_text(payload["guardrails"]),
            event=_text(event),
            approval_required=ruled.harm is not None,
            review_id=payload["review"],
            cost_micros=payload["cost_micros"],
            root_id=root_of(signal),
            decided_at=plan.at,
            counted_at=plan.at if acted else None,
        )

    def _shadow(self) -> dict[str, Any] | None:
        """What a model wanted on paper, and whether it is what the rules want."""
        if self.policy.policy.loop.decider != "shadow":
            return None
        asked = self.asked or Asked(trouble=NOT_ASKED)
        theirs, ours = asked.proposal, self.proposal
        agrees = None
        if theirs is not None and ours is not None:
            agrees = (theirs.action, theirs.kind) == (ours.action, ours.kind)
        return {**asked.to_json(), "agrees": agrees}

    def _ask_person(self, plan: Plan, act: Act) -> str:
        kind = self.policy.policy.loop.kinds[act.proposal.kind or ""]
        expires = self.policy.policy.reviews.expires_after_s
        return plan.open_review(
            kind=Kind.LOOP_ACTION,
            title=f"Start the loop {kind.name}?",
            content={
                "kind": str(Kind.LOOP_ACTION),
                "action": act.proposal.action,
                "loop": kind.name,
                "description": kind.description,
                "parameters": dict(act.proposal.parameters),
                "harm": self.ruled.harm,
                "reasoning": act.proposal.reasoning,
                "decision": act.decision,
                "trigger": {"type": self.signal.type, "source": self.signal.source},
                "state_hash": act.state_hash,
            },
            actor=LOOP,
            rules=ReviewRules(expires_after_s=expires, on_expiry=DENY),
        )


def _text(document: object) -> str:
    return json.dumps(document, ensure_ascii=False)
