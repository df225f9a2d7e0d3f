"""What is decided about a call when it is judged: change requests of three kinds."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from types import MappingProxyType
from typing import Any

from django.db.models import Model

from accounts.auth import AgentPrincipal
from common.ids import make_code
from common.responses import Reply, build_reply
from gateway.shadow import JudgedDecision, ShadowedCall, judge_call_by_draft
from gateway.stored_decisions import (
    add_budget_findings,
    add_plan_finding,
    build_look_rules,
)
from gateway.transitions import build_time_facts
from gateway.use_cases.access import (
    get_first_open_review,
    refuse_unless_calling,
    require_own_run,
)
from gateway.use_cases.answers.calls import (
    build_call_answer,
    build_title,
    write_call_answer,
)
from gateway.use_cases.limits.notices import add_notices
from gateway.use_cases.limits.remaining_budget import get_remaining_budget
from gateway.use_cases.outcomes.violations import add_gate_violations
from guidance.core.look_first import GATE, Look, is_let_through
from guidance.core.outcomes.call_facts import CallFacts
from guidance.core.outcomes.violations import list_call_violations
from guidance.core.plans.matching import get_plan_facts, is_answered
from guidance.core.policy.caps import CapReached, ReviewRoom
from guidance.core.review_limit import block_at_cap
from guidance.core.tools.judge_call import GATEWAY_VERSION, CallVerdict
from guidance.core.tools.permission_shapes import is_permittable
from guidance.selectors import LoadedPolicy
from ledger.plan import NewRow, Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, SealedEntry
from reviews import models
from reviews.agent_notes.delivery import deliver_notes
from reviews.agent_notes.selectors import Note, load_notes
from reviews.agent_plans.ending import end_used_plan
from reviews.caps import find_review_room
from reviews.errors import LookNeeded, PolicyMoved, RunPaused
from reviews.permissions.call_rows import build_call_row
from reviews.permissions.grants import NewGrant, build_grant
from reviews.permissions.standing import Use, get_permission
from reviews.plan import FollowUps, load_follow_ups, open_review, stop_at_time_limit
from reviews.policies.shadow.running import count_same
from reviews.queue.subjects import find_subject

GATEWAY = "system:tool-gateway"
# A person who is asked more than this about one run is asked too much.
OPEN_CONFIRMATIONS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedCall:
    """A call, and what the gates that need no run have said about it.

    Calls with the same `key` are the same; it is empty where a call is never repeated.
    `reached` is the cap that left no room for a review when the call came in. `shadow` is
    what a draft says that runs beside the policy. `facts` count once the call has run.
    """

    policy: LoadedPolicy
    verdict: CallVerdict
    digest: str
    key: str
    reached: CapReached | None = None
    shadow: ShadowedCall | None = None
    facts: CallFacts = field(default_factory=CallFacts)


@dataclass(kw_only=True)
class JudgeCall(ChangeRequest[Reply]):
    """One call: let through, put before a person, or refused."""

    locked = False
    shares = True
    obeys_halts = True

    agent: AgentPrincipal
    checked: CheckedCall
    call_code: str = field(default_factory=make_code)
    room: ReviewRoom = field(default=ReviewRoom(), init=False)
    follow_ups: FollowUps = field(default_factory=dict, init=False)
    # What the clock and other runs say of its run, for the decision and its entry.
    time_facts: dict[str, int] = field(default_factory=dict, init=False)
    shared_facts: dict[str, Any] = field(default_factory=dict, init=False)
    # Whether a draft that judges, too, decides the same.
    same: bool = field(default=False, init=False)
    # What a model said that looked at it first; None while it has not been asked.
    look: Look | None = None
    # The same, kept where nobody reads it before the ruling.
    sealed: models.SealedLook | None = field(default=None, init=False)
    # False where the answer to the call has no place for what people wrote.
    carries_notes: bool = True
    notes: Sequence[Note] = field(default=(), init=False)

    def load(self, run: RunState, at: datetime) -> None:
        """Whether there still is room for a review, while nobody else can take it."""
        self.notes = load_notes(run.notes.waiting) if self.carries_notes else ()
        if not self.needs_lock:
            return
        if self.checked.reached is None:
            self.room = find_review_room(
                project_id=run.project_id, agent_id=run.agent_id
            )
        self.follow_ups = load_follow_ups(run, at)

    def decide(self, run: RunState, at: datetime) -> Change[Reply]:
        plan, verdict = self._begin(run, at)
        if verdict.decision != "require-confirmation" and self.look is None:
            return self._judge(plan, verdict)
        rules = build_look_rules(self.checked.policy.policy, run)
        if self.look is None:
            if self.checked.reached is None and rules.may_look(verdict):
                raise LookNeeded.from_plan(run.memory.plan)
            return self._judge(plan, verdict)
        told, self.sealed = self.look, None
        if told.blind:
            self.sealed = models.SealedLook.from_look(self.call_code, told)
            told = told.seal(self.sealed.salt)
        facts = rules.build_facts(verdict, told)
        return self._judge(plan, rules.apply_look(verdict, told), looked=facts)

    def _begin(self, run: RunState, at: datetime) -> tuple[Plan, CallVerdict]:
        require_own_run(run, self.agent)
        refuse_unless_calling(run, self.agent)
        if run.policy_id != self.checked.policy.id:
            raise PolicyMoved("The run goes on under another version of its policy.")
        if run.is_time_over(at):
            self.require_lock()  # it is stopped, and its open reviews end with it
        shared = self.shared_facts = self.shared.to_facts()
        self.time_facts = build_time_facts(run, at)
        verdict = add_budget_findings(
            self.checked.verdict,
            {**self.time_facts, **shared},
            run,
            budget=run.budget,
        )
        if shared and verdict is not self.checked.verdict:
            self.require_lock()  # what others use moves meanwhile
        policy = self.checked.policy.policy
        return Plan(run, at), add_plan_finding(verdict, run, policy=policy, at=at)

    def _judge(
        self,
        plan: Plan,
        verdict: CallVerdict,
        *,
        use: Use | None = None,
        looked: Mapping[str, Any] = MappingProxyType({}),
    ) -> Change[Reply]:
        reached, run = None, plan.run
        if verdict.decision == "require-confirmation":
            reached = self.checked.reached
            if reached is None:
                self.require_lock()
                severity = find_call_severity(verdict, self.checked.policy)
                reached = self.room.find_reached(severity)
            verdict = block_at_cap(verdict, reached)
        grant = None
        if use or verdict.decision in {"allow", "warn"}:
            grant = build_grant(
                self.checked.digest, policy=self.checked.policy, at=plan.at
            )
        payload = self._build_payload(verdict, grant, use)
        payload |= self.time_facts
        payload |= get_plan_facts(verdict, run.memory.plan)
        payload |= looked
        if reached is not None:
            payload["review_limit"] = reached.to_json()
        seq = plan.next_seq
        if use is None and not is_answered(payload) and not is_let_through(payload):
            found = list_call_violations(payload["findings"])
            add_gate_violations(plan, payload, found, seq=seq, call=self.call_code)
        plan.add_entry("call.judged", actor=self.agent.actor, payload=payload)
        end_used_plan(plan, actor=GATEWAY)
        if verdict.decision == "require-confirmation":
            payload["review"] = self._put_before_a_person(plan, verdict)
        payload["budget_remaining"] = self._get_remaining(plan.run, plan.at)
        plan.takes_calls = grant is not None or payload["review"] is not None
        self._add_notices(plan, run)
        plan.rows += self._build_rows(plan, payload, grant, use, seq)
        if use is not None:
            plan.side_updates.append(partial(use.store, plan.at))
        self._judge_by_draft(plan, run, payload, seq)
        if run.is_time_over(plan.at):
            stop_at_time_limit(plan, self.follow_ups)
        self._deliver_notes(plan, self.call_code)
        return plan.change(partial(self._answer, payload))

    def _deliver_notes(self, plan: Plan, call: str) -> None:
        given = models.DeliveredWith.CALL
        self.notes = deliver_notes(plan, self.notes, given=given, subject=call)

    def _get_remaining(self, run: RunState, at: datetime) -> dict[str, Any]:
        return get_remaining_budget(run, at, below=self.shared.below)

    def _add_notices(self, plan: Plan, before: RunState) -> None:
        if not self.shared.limits:
            return
        shared = self.shared.add(plan.run.spent.subtract(before.spent))
        if shared.has_notices:
            self.require_lock()
            add_notices(plan, shared)

    def _judge_by_draft(
        self, plan: Plan, run: RunState, payload: dict[str, Any], seq: int
    ) -> None:
        shadow = self.checked.shadow
        self.same = shadow is not None and judge_call_by_draft(
            shadow,
            JudgedDecision(
                plan=plan, own=self.checked.policy, state=run, payload=payload, seq=seq
            ),
        )

    def _build_payload(
        self, verdict: CallVerdict, grant: NewGrant | None, use: Use | None
    ) -> dict[str, Any]:
        return {
            "call": self.call_code,
            "kind": verdict.call.kind,
            "tool": verdict.tool,
            "digest": self.checked.digest,
            "shown": verdict.shown,
            "redacted": verdict.redacted,
            "confirm": verdict.call.confirm,
            **verdict.to_json(),
            "weight": verdict.weight,
            "preview": verdict.preview,
            "grant": grant.to_json() if grant else None,
            "review": None,
            "permission": use.to_json() if use else None,
            "policy": self.checked.policy.build_stamp(),
            "engine": GATEWAY_VERSION,
            **self._build_facts(),
            **verdict.server.to_facts(),
            **self.shared_facts,
        }

    def _build_facts(self) -> dict[str, Any]:
        facts = self.checked.facts.to_json()
        return {"facts": facts} if facts else {}

    def _put_before_a_person(self, plan: Plan, verdict: CallVerdict) -> dict[str, str]:
        """The draft is sealed later, so the call's own entry can name its review."""
        if plan.run.reserved_calls >= OPEN_CONFIRMATIONS:
            raise RunPaused(
                f"{OPEN_CONFIRMATIONS} calls of this run wait for a person already.",
                review=get_first_open_review(
                    plan.run, project_slug=self.agent.project_slug
                ),
            )
        rules = self.checked.policy.policy.tools
        asked = [f for f in verdict.findings if f.decision == "require-confirmation"]
        code = open_review(
            plan,
            kind="confirmation",
            title=build_title(verdict, asked[0]),
            content={
                "kind": "confirmation",
                "call": self.call_code,
                "call_kind": verdict.call.kind,
                "tool": verdict.tool,
                "digest": self.checked.digest,
                "shown": verdict.shown,
                "findings": verdict.to_json()["findings"],
                "preview": verdict.preview,
                "expires_s": rules.grant_expires_s,
                # Never where not all of it is kept: the original of several edits, or
                # a secret.
                "permittable": verdict.call.kind != "multi_edit"
                and not verdict.redacted
                and is_permittable(verdict.findings, always_ask=rules.always_ask),
            },
            actor=GATEWAY,
            step=plan.run.memory.last_step or None,
        )
        return {"id": code, "kind": "confirmation"}

    def _build_rows(
        self,
        plan: Plan,
        payload: dict[str, Any],
        grant: NewGrant | None,
        use: Use | None,
        seq: int,
    ) -> Iterator[Model | NewRow]:
        yield build_call_row(plan, payload, key=self.checked.key, seq=seq)
        if GATE in payload and self.sealed is not None:
            self.sealed.project_id = plan.run.project_id
            self.sealed.run_id = plan.run.id
            yield self.sealed
        if grant is not None:
            yield grant.build_row(
                call_code=self.call_code,
                run_id=plan.run.id,
                permission_id=use.permission_id if use else None,
            )

    def _answer(self, payload: dict[str, Any], entries: Sequence[SealedEntry]) -> Reply:
        self._count_same()
        body = write_call_answer(
            run=self.run_code,
            project_slug=self.agent.project_slug,
            payload=payload,
            policy=self.checked.policy,
            entry=entries[0],
            notes=self.notes,
        )
        return Reply(status=201, body=body)

    def _count_same(self) -> None:
        if self.same and self.checked.shadow is not None:
            count_same(self.checked.shadow.shadow, calls=1)


@dataclass(kw_only=True)
class JudgePermittedCall(JudgeCall):
    """The same under a standing permission, which all runs of a project share."""

    locked = True
    permission_id: int
    permission: models.Permission = field(init=False)

    def load(self, run: RunState, at: datetime) -> None:
        super().load(run, at)
        self.permission = get_permission(self.permission_id)

    def decide(self, run: RunState, at: datetime) -> Change[Reply]:
        plan, verdict = self._begin(run, at)
        if verdict.decision != "require-confirmation":
            return self._judge(plan, verdict)
        use = Use.from_row(self.permission, verdict=verdict, at=at)
        return self._judge(plan, use.allow_call(verdict), use=use)


@dataclass(kw_only=True)
class RepeatCall(JudgeCall):
    """The policy says that the tool is idempotent, and its result is stored."""

    stored: models.ToolCall

    def decide(self, run: RunState, at: datetime) -> Change[Reply]:
        plan, verdict = self._begin(run, at)
        if verdict.decision not in {"allow", "warn"}:
            return self._judge(plan, verdict)
        payload = {
            **self._build_payload(verdict, None, None),
            "call": str(self.stored.code),
            "budget_remaining": self._get_remaining(run, at),
            **self.time_facts,
        }
        seq = plan.next_seq
        plan.add_entry("call.replayed", actor=self.agent.actor, payload=payload)
        self._judge_by_draft(plan, run, payload, seq)
        self._deliver_notes(plan, payload["call"])
        return plan.change(self._build_stored_answer)

    def _build_stored_answer(self, entries: Sequence[SealedEntry]) -> Reply:
        self._count_same()
        answer = build_call_answer(
            run=self.run_code,
            project_slug=self.agent.project_slug,
            payload=json.loads(entries[0].payload),
            receipt=entries[0].build_receipt(),
            notes=self.notes,
        )
        output = json.loads(self.stored.output or "null")
        return build_reply({**answer, "replayed": True, "output": output}, status=201)


def find_call_severity(verdict: CallVerdict, policy: LoadedPolicy) -> str:
    """Find the severity of the review that would be opened."""
    content = {"findings": verdict.to_json()["findings"]}
    rules = policy.policy.reviews.severity
    return find_subject("confirmation", content, rules).severity
