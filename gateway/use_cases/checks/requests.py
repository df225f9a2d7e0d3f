"""The changes of a run that open a check, and take a verdict on it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from accounts.auth import AgentPrincipal
from common.errors import Invalid, NotFound
from common.ids import parse_code, uuid7
from common.responses import Reply, build_reply
from gateway.use_cases.access import (
    refuse_unless_running,
    require_own_run,
)
from gateway.use_cases.review_links import build_review_reference
from guidance.core.canonical import to_canonical_json
from guidance.core.checks import (
    CheckState,
    CombinedGates,
    Evidence,
    Outcome,
    Verdict,
    apply_verdict,
    build_exhaustion_text,
    build_exhaustion_title,
    build_previous_feedback,
    build_prompt,
    open_check,
)
from guidance.core.jcs import read_as_stored
from guidance.core.policy.caps import CapReached, ReviewRoom
from guidance.core.review_limit import OPEN_REVIEWS
from guidance.selectors import LoadedPolicy
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, SealedEntry
from reviews.caps import find_review_room
from reviews.checks import build_gates, load_check_state, open_warnings, store_state
from reviews.errors import AlreadyRuled
from reviews.models import AdvisoryWarning, GateCheck
from reviews.plan import (
    ClosingRequest,
    FollowUps,
    close_run,
    find_severity,
    open_review,
)

QUALITY_GATE = "system:quality-gate"


@dataclass(kw_only=True)
class OpenCheck(ChangeRequest[Reply]):
    agent: AgentPrincipal
    policy: LoadedPolicy
    gates: CombinedGates
    step: int | None  # None: the last one reported when the check is opened
    check_code: str = field(default_factory=lambda: str(uuid7()))

    def decide(self, run: RunState, at: datetime) -> Change[Reply]:
        require_own_run(run, self.agent)
        refuse_unless_running(run, self.agent)
        step = run.memory.last_step if self.step is None else self.step
        if step > run.memory.last_step:
            message = f"step {step} is later than the last one reported"
            raise Invalid(
                f"step: {message}.", errors=[{"loc": ["step"], "message": message}]
            )
        plan = Plan(run, at)
        max_resets = self.policy.policy.checks.max_resets
        state = open_check(self.gates, max_resets=max_resets)
        definitions = [gate.to_json() for gate in self.gates.gates]
        plan.add_entry(
            "check.opened",
            actor=self.agent.actor,
            payload={
                "check": self.check_code,
                "step": step,
                "gates": definitions,
                "state": state.to_json(),
                "policy": self.policy.build_stamp(),
            },
        )
        plan.rows.append(
            GateCheck(
                code=self.check_code,
                project_id=run.project_id,
                run_id=run.id,
                step=step,
                gates=to_canonical_json(read_as_stored(definitions)),
                state=to_canonical_json(read_as_stored(state.to_json())),
                status=state.status,
                opened_at=at,
                updated_at=at,
            )
        )
        return plan.change(partial(self._answer, state, run.id))

    def _answer(
        self, state: CheckState, run_id: int, entries: Sequence[SealedEntry]
    ) -> Reply:
        return build_reply(
            {
                "id": self.check_code,
                "run": self.run_code,
                **build_check_state(self.gates, state),
                "advisory_warnings": open_warnings(run_id),
                "receipt": entries[0].build_receipt(),
            },
            status=201,
        )


def build_check_state(gates: CombinedGates, state: CheckState) -> dict[str, Any]:
    """A check as it stands: what is asked, and how often it may still be tried."""
    return {
        "status": state.status,
        "gates": [gate.slug for gate in gates.gates],
        "enforcement_mode": state.mode,
        "attempt": state.attempt,
        "max_attempts": state.max_attempts,
        "attempts_left": state.attempts_left,
        "previous_feedback": build_previous_feedback(gates, state),
        "prompt": build_prompt(gates, state) if state.status == "open" else None,
    }


@dataclass(kw_only=True)
class TakeVerdict(ClosingRequest[Reply]):
    agent: AgentPrincipal
    check_code: str
    verdict: Verdict
    evidence: Sequence[Evidence]
    check: GateCheck = field(init=False)
    room: ReviewRoom = field(default=ReviewRoom(), init=False)

    def load(self, run: RunState, at: datetime) -> None:
        require_own_run(run, self.agent)
        super().load(run, at)
        self.check = get_check(run.id, self.check_code)
        if self.needs_lock:
            self.room = find_review_room(
                project_id=run.project_id, agent_id=run.agent_id
            )

    def decide(self, run: RunState, at: datetime) -> Change[Reply]:
        check = self.check
        refuse_unless_running(run, self.agent)
        gates, state = build_gates(check), load_check_state(check)
        refuse_ended(state)
        outcome = apply_verdict(
            state, self.verdict, gates=gates, evidence=self.evidence
        )
        plan = Plan(run, at)
        payload: dict[str, Any] = {
            "check": str(check.code),
            "step": check.step,
            "verdict": self.verdict.to_json(),
            "evidence": [item.to_json() for item in self.evidence],
            "outcome": outcome.word,
            "hints": list(outcome.hints),
            "unproven": list(outcome.unproven),
            "warning": outcome.warning,
            "warning_id": None,
            "state": outcome.state.to_json(),
            "review": None,
        }
        plan.add_entry("check.judged", actor=self.agent.actor, payload=payload)
        if outcome.word == "exhausted":
            self.require_lock()
            asked = build_exhausted_content(check, gates, outcome.state)
            severity = find_severity(run, kind="exhausted", content=asked)
            reached = self.room.find_reached(severity)
            if reached is None:
                payload["review"] = put_before_a_person(
                    plan, check, build_exhaustion_title(gates, outcome.state), asked
                )
            else:
                stop_unasked(plan, self.follow_ups, reached)
        if outcome.warning is not None:
            warning = AdvisoryWarning(
                run_id=run.id, check_code=check.code, text=outcome.warning, at=at
            )
            payload["warning_id"] = str(warning.code)
            plan.rows.append(warning)
        review = payload["review"]["id"] if payload["review"] else None
        plan.side_updates.append(
            partial(store_state, check, outcome.state, review=review, at=at)
        )
        return plan.change(partial(self._answer, gates, outcome, run.id))

    def _answer(
        self,
        gates: CombinedGates,
        outcome: Outcome,
        run_id: int,
        entries: Sequence[SealedEntry],
    ) -> Reply:
        payload = json.loads(entries[0].payload)
        return build_reply(
            {
                "id": self.check_code,
                "run": self.run_code,
                "outcome": outcome.word,
                **build_check_state(gates, outcome.state),
                "hints": list(outcome.hints),
                "unproven": list(outcome.unproven),
                "advisory_warnings": open_warnings(run_id),
                "review": build_review_reference(
                    payload["review"], project_slug=self.agent.project_slug
                ),
                "receipt": entries[0].build_receipt(),
            }
        )


def build_exhausted_content(
    check: GateCheck, gates: CombinedGates, state: CheckState
) -> dict[str, Any]:
    """The whole history side by side: what failed, what was said, what changed."""
    return {
        "kind": "exhausted",
        "check": str(check.code),
        "step": check.step,
        "summary": build_exhaustion_text(gates, state),
        "gates": [gate.to_json() for gate in gates.gates],
        "state": state.to_json(),
        "offers": list(state.offers),
    }


def put_before_a_person(
    plan: Plan, check: GateCheck, title: str, content: dict[str, Any]
) -> dict[str, str]:
    code = open_review(
        plan,
        kind="exhausted",
        title=title,
        content=content,
        actor=QUALITY_GATE,
        step=check.step or None,
    )
    return {"id": code, "kind": "exhausted"}


def stop_unasked(plan: Plan, follow_ups: FollowUps, reached: CapReached) -> None:
    """The check has failed and nobody can be asked: the run does not go on."""
    close_run(
        plan,
        follow_ups,
        "run.stopped",
        actor=QUALITY_GATE,
        reason=f"{reached.describe(OPEN_REVIEWS)}: nobody can be asked about the check",
        cause="review_limit",
    )


def get_check(run_id: int, code: str) -> GateCheck:
    known = parse_code(code)
    check = (
        GateCheck.objects.filter(code=known, run_id=run_id).first() if known else None
    )
    if check is None:
        raise NotFound
    return check


def refuse_ended(state: CheckState) -> None:
    if state.status != "open":
        raise AlreadyRuled(
            f"The check is {state.status}: it takes no more verdicts.",
            state=state.status,
        )
