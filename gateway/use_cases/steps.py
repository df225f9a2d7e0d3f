"""The agent reports steps; the continue gate decides whether it may go on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import partial
from itertools import pairwise

from accounts.auth import AgentPrincipal
from common.errors import Invalid
from common.responses import Reply
from gateway.schemas.runs import StepIn, UncleanStepIn
from gateway.shadow import JudgedDecision, judge_step_by_draft
from gateway.transitions import (
    apply_step,
    count_repeated_turns,
    get_headline,
    report_to_json,
)
from gateway.use_cases.access import refuse_unless_running, require_own_run
from gateway.use_cases.answers.stored_steps import (
    StoredDecision,
    list_stored_decisions,
    write_decision_again,
)
from gateway.use_cases.limits.notices import add_notices
from gateway.use_cases.outcomes.violations import add_gate_violations
from gateway.use_cases.step_payload import StepPayload
from guidance.core.money import parse_usd
from guidance.core.outcomes.violations import list_step_violations
from guidance.core.policy.caps import ReviewRoom
from guidance.core.review_limit import stop_at_cap
from guidance.core.runs.facts import StepReport
from guidance.core.runs.shared_limits import NOTHING, SharedUse
from guidance.core.runs.usage import Usage
from guidance.core.steps.judge_step import StepVerdict, judge_step
from guidance.selectors import LoadedPolicy, get_policy
from ledger.idempotency import Idempotency
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, Draft, SealedEntry, get_writer
from ledger.writer.db_threads import run_in_db_thread
from reviews.agent_notes.delivery import deliver_notes, mark_notes_read
from reviews.agent_notes.selectors import Note, load_notes
from reviews.allowances.ending import end_used_allowances
from reviews.caps import find_review_room
from reviews.errors import StepOutOfOrder, StepSeen
from reviews.models import DeliveredWith
from reviews.plan import find_severity, open_review, revoke_grants
from reviews.policies.shadow.running import RunningShadow, count_same, find_shadow

GATE_ACTOR = "system:continue-gate"
TOTAL_MAX = 2**53 - 1


def build_report(body: UncleanStepIn) -> StepReport:
    # By their places: by name it takes longer (bench batches).
    return StepReport(
        body.number,
        body.tokens,
        body.tool_calls,
        body.duration_ms,
        parse_usd(body.cost_usd),
        body.rework,
        body.checkpoint,
        body.coherence,
        body.uncertainty,
        tuple(body.confidences),
        body.intent,
        body.summary,
        body.signature,
        body.failed_calls,
    )


def take_reports(steps: list[StepIn] | list[UncleanStepIn]) -> list[StepReport]:
    """Leaves nothing in the list: whoever holds the body of a request does so until it is
    answered, and to free a hundred steps then takes longer than now (bench batches)."""
    reports = [build_report(step) for step in steps]
    steps.clear()
    return reports


@dataclass(kw_only=True)
class ReportSteps(ChangeRequest[Reply]):
    """One step, or several in order up to the first pause or stop."""

    locked = False
    shares = True
    obeys_halts = True

    agent: AgentPrincipal
    reports: Sequence[StepReport]
    batch: bool = False
    # What steps of the batch were answered that were stored before.
    earlier: Sequence[str] = ()
    room: ReviewRoom = field(default=ReviewRoom(), init=False)
    # A draft that judges, too, and how many of these steps it decides in the same way.
    shadow: RunningShadow | None = field(default=None, init=False)
    same: int = field(default=0, init=False)
    used_before: Usage = field(default=NOTHING, init=False)
    # False where the answer to the step has no place for what people wrote.
    carries_notes: bool = True
    notes: Sequence[Note] = field(default=(), init=False)
    # The payloads of its steps, as they are stored.
    judged: list[StepPayload] = field(default_factory=list, init=False)

    def load(self, run: RunState, at: datetime) -> None:
        self.notes = load_notes(run.notes.waiting) if self.carries_notes else ()
        if self.needs_lock:
            self.room = find_review_room(
                project_id=run.project_id, agent_id=run.agent_id
            )

    def decide(self, run: RunState, at: datetime) -> Change[Reply]:
        require_own_run(run, self.agent)
        expected = run.memory.last_step + 1
        if self.reports[0].number < expected:
            raise StepSeen(
                f"Step {self.reports[0].number} is stored.", last=expected - 1
            )
        refuse_unless_running(run, self.agent)
        if self.reports[0].number > expected:
            raise StepOutOfOrder(
                f"Step {expected} is the next one of this run.", expected=expected
            )
        policy = get_policy(run.policy_id)
        self.shadow = find_shadow(project_id=run.project_id, policy=policy, at=at)
        self.same = 0
        self.judged = []
        self.used_before = run.used
        plan = Plan(run, at)
        for report in self.reports:
            verdict = self._judge(plan, report, policy, self._measure_wait(plan))
            if verdict.decision in {"pause", "stop"}:
                break
        if run.notes:
            mark_notes_read(plan, actor=self.agent.actor)
        if self.notes:
            self.notes = deliver_notes(plan, self.notes, given=DeliveredWith.STEP)
        return plan.change(self._answer)

    def _measure_wait(self, plan: Plan) -> int | None:
        """How long ago the agent was asked to wait. Steps behind the first one of a batch
        cannot have known of it."""
        return None if plan.drafts else plan.run.measure_waited_ms(plan.at)

    def _count_shared(self, plan: Plan, report: StepReport) -> SharedUse:
        """What the run shares with others, with this step and those before it."""
        run = plan.run
        if not self.shared.limits:
            return self.shared
        used = run.used.add_step(report, counted_calls=run.memory.calls.granted)
        return self.shared.add(used.subtract(self.used_before))

    def _judge(
        self,
        plan: Plan,
        report: StepReport,
        policy: LoadedPolicy,
        waited_ms: int | None,
    ) -> StepVerdict:
        run, shared = plan.run, self._count_shared(plan, report)
        running_ms = run.measure_running_ms(plan.at)
        verdict = judge_step(
            policy=policy.policy,
            report=report,
            memory=run.memory,
            used=run.used,
            budget=run.budget,
            turns_repeat=count_repeated_turns(run, policy.policy),
            running_ms=running_ms,
            waited_ms=waited_ms,
            shared=shared,
            at=plan.at,
        )
        facts = shared.to_facts()
        if (facts and verdict.decision == "stop") or shared.has_notices:
            self.require_lock()  # what others use moves meanwhile
        refuse_uncountable(verdict.used)
        reached, asked = None, {}
        if verdict.decision == "pause":
            self.require_lock()
            asked = {
                "kind": "pause",
                "step": report_to_json(report),
                "decision": verdict.to_json(),
                "limits": asdict(policy.policy.continue_limits),
            }
            severity = find_severity(run, kind="pause", content=asked)
            reached = self.room.find_reached(severity)
            verdict = stop_at_cap(verdict, reached)
        payload = StepPayload(report=report, verdict=verdict, policy=policy, more=facts)
        if running_ms is not None:
            facts["running_ms"] = running_ms
        if waited_ms is not None:
            facts["waited_ms"] = waited_ms
        if run.memory.calls.granted:
            # Of the step's calls, those that the gateway let through are counted already.
            facts["counted_calls"] = run.memory.calls.granted
        if reached:
            facts["review_limit"] = reached.to_json()
        self.judged.append(payload)
        seq = plan.next_seq
        if verdict.findings:
            found = list_step_violations([each.to_json() for each in verdict.findings])
            add_gate_violations(plan, facts, found, seq=seq)
        plan.drafts.append(
            Draft(
                "step.judged",
                self.agent.actor,
                payload,
                report.number,
                verdict.decision,
            )
        )
        plan.run = apply_step(run, verdict, plan.at)
        end_used_allowances(plan, step=report.number, actor=GATE_ACTOR)
        if shared.has_notices:
            add_notices(plan, shared)
            self.shared = self.shared.mark_noticed(shared)
        if verdict.decision == "pause":
            code = open_review(
                plan,
                kind="pause",
                title=get_headline(verdict, "pause"),
                content=asked,
                actor=GATE_ACTOR,
                step=report.number,
            )
            # The draft is sealed later, so the step's own entry can name its review.
            payload.review = {"id": code, "kind": "pause"}
        elif verdict.decision == "stop":
            revoke_grants(plan)
            plan.wakes_waiters = True
        if self.shadow is not None:
            self.same += judge_step_by_draft(
                self.shadow,
                JudgedDecision(
                    plan=plan,
                    own=policy,
                    state=run,
                    payload=payload.to_json(),
                    seq=seq,
                ),
            )
        return verdict

    def write_again(self, seq: int) -> str:
        return write_decision_again(self.agent, self.run_code, seq)

    def _answer(self, entries: Sequence[SealedEntry]) -> Reply:
        if self.shadow is not None:
            count_same(self.shadow, steps=self.same)
        steps = [entry for entry in entries if entry.type == "step.judged"]
        # Freed here, not by the event loop (bench batches).
        judged, self.judged = self.judged, []
        last = len(steps) - 1
        decisions = [
            payload.write_answer(
                entry,
                run=self.run_code,
                project_slug=self.agent.project_slug,
                notes=self.notes if place == last else (),
            )
            for place, (entry, payload) in enumerate(zip(steps, judged, strict=True))
        ]
        if not self.batch:
            # A link to a review has names in it that may change, notes are not in the entry.
            whole = judged[0].review is None and not self.notes
            seq = steps[0].seq if whole else None
            return Reply(status=201, body=decisions[0], written_from=seq)
        return _build_batch_reply([*self.earlier, *decisions])


def _build_batch_reply(decisions: Sequence[str], *, replayed: bool = False) -> Reply:
    body = f'{{"decisions":[{",".join(decisions)}],"accepted":{len(decisions)}}}'
    return Reply(status=200, body=body, replayed=replayed)


def refuse_uncountable(used: Usage) -> None:
    """The sums, too, stay numbers that JSON and the database can hold."""
    if max(used) <= TOTAL_MAX:
        return
    fields = {
        "tokens": used.tokens,
        "tool_calls": used.tool_calls,
        "duration_ms": used.time_ms,
        "cost_usd": used.cost_micros,
    }
    for name, total in fields.items():
        if total > TOTAL_MAX:
            message = "the run's total would be more than can be counted"
            raise Invalid(
                f"{name}: {message}.", errors=[{"loc": [name], "message": message}]
            )


def build_step_request(
    *,
    agent: AgentPrincipal,
    run_code: str,
    body: UncleanStepIn,
    idempotency: Idempotency | None = None,
) -> ReportSteps:
    return ReportSteps(
        agent=agent,
        run_code=run_code,
        reports=[build_report(body)],
        idempotency=idempotency,
    )


async def submit_step(
    *,
    agent: AgentPrincipal,
    run_code: str,
    body: StepIn,
    idempotency: Idempotency | None = None,
) -> Reply:
    request = build_step_request(
        agent=agent, run_code=run_code, body=body, idempotency=idempotency
    )
    try:
        return await get_writer().perform(request)
    except StepSeen:
        stored = await run_in_db_thread(
            partial(list_stored_decisions, agent, run_code, request.reports)
        )
        return Reply(status=201, body=stored[0].body, replayed=True)


async def submit_steps(
    *,
    agent: AgentPrincipal,
    run_code: str,
    reports: Sequence[StepReport],
    idempotency: Idempotency | None = None,
) -> Reply:
    """Steps that are stored already answer as they did; the rest is judged now."""
    for before, later in pairwise(reports):
        if later.number != before.number + 1:
            raise Invalid(
                f"Steps of a batch stand in order: {later.number} follows "
                f"{before.number}.",
                errors=[{"loc": ["steps"], "message": "numbers must be consecutive"}],
            )
    earlier: list[StoredDecision] = []
    while True:
        try:
            return await get_writer().perform(
                ReportSteps(
                    agent=agent,
                    run_code=run_code,
                    reports=reports,
                    batch=True,
                    idempotency=idempotency,
                    earlier=[each.body for each in earlier],
                )
            )
        except StepSeen as seen:
            count = min(len(reports), seen.extra["last"] - reports[0].number + 1)
            earlier += await run_in_db_thread(
                partial(list_stored_decisions, agent, run_code, reports[:count])
            )
            reports = reports[count:]
            if not reports or earlier[-1].decision in {"pause", "stop"}:
                answered = [each.body for each in earlier]
                return _build_batch_reply(answered, replayed=True)
