"""Spans that OpenTelemetry sends become steps of runs that are observed, not gated.

Telemetry is after the fact. The gates judge each step and what they say is kept, but no
run is held, stopped or put before a person by it. The same span counts once, however
often it is sent: what was taken is recorded with its entry, in one commit, and kept for
as long as idempotency keys are.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from django.db.models import Q

from accounts.auth import AgentPrincipal
from common.errors import DomainError, Invalid, NotFound
from common.long_work import run_long
from gateway.schemas.runs import FinishIn, StepIn
from gateway.telemetry.meaning import SpanReport, Trace, group_traces, read_span
from gateway.telemetry.spans import BadSpan, Span
from gateway.transitions import (
    apply_step,
    count_repeated_turns,
    get_step_type,
    report_to_json,
)
from gateway.use_cases.outcomes.finish import finish
from gateway.use_cases.outcomes.seen import load_seen
from gateway.use_cases.runs import StartRun, choose_run_policy
from gateway.use_cases.steps import build_report, refuse_uncountable
from guidance.core.outcomes import Seen
from guidance.core.steps.judge_step import ENGINE_VERSION, judge_step
from guidance.selectors import get_policy
from ledger.idempotency import (
    Idempotency,
    build_own_key,
    build_record,
    list_recorded_answers,
)
from ledger.models import FINAL, OBSERVED, Entry, Run
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, Draft, get_writer
from ledger.writer.db_threads import run_in_db_thread

# Of one transaction: others write between two parts of a large request.
PART = 100


class NothingNew(DomainError):
    """Internal: there is nothing in it that was not told before."""

    slug, status, title = "step-conflict", 409, "These spans are stored already"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A span's tale, and what `Trace.above` says of it."""

    told: SpanReport
    above: str | None

    @property
    def span_id(self) -> str:
        return self.told.span.span_id


@dataclass(kw_only=True)
class ObserveSpans(ChangeRequest[list[str]]):
    """Answers with the reasons for which spans were not taken."""

    agent: AgentPrincipal
    trace_id: str
    items: Sequence[Item] = ()
    outcome: FinishIn | None = None
    known: dict[str, dict[str, Any]] = field(init=False)
    seen: Seen = field(init=False)

    def load(self, run: RunState, at: datetime) -> None:
        key_of = partial(_build_key, self.agent, self.trace_id)
        spans = [key_of("span", item.span_id) for item in self.items]
        above = [key_of("above", item.above) for item in self.items if item.above]
        self.known = list_recorded_answers([key_of("trace"), *spans, *above])
        ends = self.outcome or any(item.told.outcome for item in self.items)
        policy = get_policy(run.policy_id).policy
        self.seen = load_seen(run, policy.evaluators) if ends else Seen()

    def decide(self, run: RunState, at: datetime) -> Change[list[str]]:
        if run.agent_id != self.agent.agent_id or not run.observed:
            raise NotFound
        key_of = partial(_build_key, self.agent, self.trace_id)
        trace_key = key_of("trace")
        spans = {item.span_id: key_of("span", item.span_id) for item in self.items}
        known = dict(self.known)
        plan = Plan(run, at)
        refused: list[str] = []
        for item in self.items:
            key = spans[item.span_id]
            if key.key in known:
                continue
            try:
                self._note(plan, item)
            except Invalid as refusal:
                refused.append(refusal.detail)
                continue
            self._remember(plan, key, known)
            if item.told.outcome is not None and item.above:
                self._remember(plan, key_of("above", item.above), known)
        if self.outcome is not None and plan.run.status not in FINAL:
            finish(plan, self.outcome, actor=self.agent.actor, seen=self.seen)
        if not plan.drafts:
            raise NothingNew("These spans are stored already.", refused=refused)
        self._remember(plan, trace_key, known)
        return plan.change(lambda _: refused)

    def _remember(
        self, plan: Plan, key: Idempotency, known: dict[str, dict[str, Any]]
    ) -> None:
        if key.key not in known:
            known[key.key] = body = {"id": plan.run.code}
            plan.rows.append(build_record(key, body=body, at=plan.at))

    def _note(self, plan: Plan, item: Item) -> None:
        told = item.told
        # What an agent used in all is known already where its parts have told it.
        if told.step is not None and not (told.outcome and plan.run.used.tokens):
            self._add_step(plan, told, told.step)
        if told.outcome is None:
            return
        if item.above == "" and plan.run.status not in FINAL:
            finish(plan, told.outcome, actor=self.agent.actor, seen=self.seen)
            return
        outcome = told.outcome.model_dump(mode="json", include={"outcome", "summary"})
        payload = {**outcome, "span": told.build_origin()}
        plan.add_entry("agent.observed", actor=self.agent.actor, payload=payload)

    def _add_step(self, plan: Plan, told: SpanReport, body: StepIn) -> None:
        run = plan.run
        policy = get_policy(run.policy_id)
        report = build_report(body)._replace(number=run.memory.last_step + 1)
        verdict = judge_step(
            policy=policy.policy,
            report=report,
            memory=run.memory,
            used=run.used,
            budget=run.budget,
            turns_repeat=count_repeated_turns(run, policy.policy),
        )
        refuse_uncountable(verdict.used)
        plan.drafts.append(
            Draft(
                type=get_step_type(run),
                actor=self.agent.actor,
                payload={
                    "report": report_to_json(report),
                    "verdict": verdict.to_json(),
                    "span": told.build_origin(),
                    "policy": policy.build_stamp(),
                    "engine": ENGINE_VERSION,
                },
                step_number=report.number,
            )
        )
        plan.run = apply_step(run, verdict, plan.at)


def _build_key(agent: AgentPrincipal, trace_id: str, *parts: str) -> Idempotency:
    return build_own_key("otlp", trace_id, *parts, agent_id=agent.agent_id)


async def observe_spans(*, agent: AgentPrincipal, spans: Sequence[Span]) -> list[str]:
    """Take what can be taken; one reason for each span that was not."""
    refused: list[str] = []
    awaited = await run_in_db_thread(partial(_find_awaited_spans, agent, spans))
    for trace in group_traces(spans):
        # Beside the event loop: texts are cleaned as they are read.
        items, reasons = await run_long(_build_items, trace)
        refused += reasons
        if items:
            refused += await _take(agent, trace, items)
        for span in trace.spans:
            run_code = awaited.get((span.trace_id, span.span_id))
            # Whoever stands above this one in turn would have come with it.
            if run_code is not None and trace.find_above(span) is not None:
                await _end(agent, trace, run_code)
    return refused


def _build_items(trace: Trace) -> tuple[list[Item], list[str]]:
    items, refused = [], []
    for span in trace.telling:
        try:
            items.append(Item(told=read_span(span), above=trace.find_above(span)))
        except BadSpan as error:
            refused.append(str(error))
    return items, refused


async def _take(
    agent: AgentPrincipal, trace: Trace, items: Sequence[Item]
) -> list[str]:
    try:
        run_code = await _get_or_start_run(agent, trace)
    except (BadSpan, Invalid) as error:
        return [str(error)] * len(items)
    refused: list[str] = []
    for at in range(0, len(items), PART):
        refused += await _perform(
            ObserveSpans(
                agent=agent,
                run_code=run_code,
                trace_id=trace.trace_id,
                items=items[at : at + PART],
            )
        )
    return refused


async def _perform(change_request: ObserveSpans) -> list[str]:
    try:
        return await get_writer().perform(change_request)
    except NothingNew as nothing:
        refused: list[str] = nothing.extra["refused"]
        return refused


async def _get_or_start_run(agent: AgentPrincipal, trace: Trace) -> str:
    """The run that the trace belongs to. The same trace always gets the same one."""
    run_code, parent = await run_in_db_thread(partial(_find_run, agent, trace))
    if run_code is not None:
        return run_code
    body = trace.build_run(parent=parent)
    policy = await run_in_db_thread(
        partial(choose_run_policy, agent, body, labels=dict([OBSERVED]))
    )
    key = _build_key(agent, trace.trace_id, "trace")
    if trace.conversation and parent is None:
        key = _build_conversation_key(agent, trace)
    started = await get_writer().perform(
        StartRun(agent=agent, body=body, policy=policy, observed=True, idempotency=key)
    )
    code: str = json.loads(started.body)["id"]
    return code


def _build_conversation_key(agent: AgentPrincipal, trace: Trace) -> Idempotency:
    return build_own_key("otlp-talk", trace.conversation, agent_id=agent.agent_id)


def _find_run(agent: AgentPrincipal, trace: Trace) -> tuple[str | None, str | None]:
    """The run of this trace, or of its conversation while that is open.

    Else none, and the conversation's first run, for a new one to go on from.
    """
    trace_key = _build_key(agent, trace.trace_id, "trace")
    talk_key = (
        _build_conversation_key(agent, trace) if trace.conversation else trace_key
    )
    known = list_recorded_answers([trace_key, talk_key])
    if trace_key.key in known:
        return known[trace_key.key]["id"], None
    if talk_key.key not in known:
        return None, None
    first: str = known[talk_key.key]["id"]
    name, value = OBSERVED
    newest = (
        Run.objects.filter(Q(code=first) | Q(parent__code=first))
        .filter(agent_id=agent.agent_id, **{f"labels__{name}": value})
        .order_by("-pk")
        .first()
    )
    if newest is not None and newest.status not in FINAL:
        return str(newest.code), None
    return None, first


def _find_awaited_spans(
    agent: AgentPrincipal, spans: Sequence[Span]
) -> dict[tuple[str, str], str]:
    """Spans of no agent below which one has ended before, and the run of that one."""
    places = {
        (span.trace_id, span.span_id): _build_key(
            agent, span.trace_id, "above", span.span_id
        )
        for span in spans
        if not span.operation
    }
    known = list_recorded_answers(places.values())
    return {
        place: known[key.key]["id"] for place, key in places.items() if key.key in known
    }


async def _end(agent: AgentPrincipal, trace: Trace, run_code: str) -> None:
    """The agent that ended last had none above it: its end is the run's."""
    outcome = await run_in_db_thread(partial(_get_last_outcome, run_code))
    await _perform(
        ObserveSpans(
            agent=agent, run_code=run_code, trace_id=trace.trace_id, outcome=outcome
        )
    )


def _get_last_outcome(run_code: str) -> FinishIn:
    ended = Entry.objects.filter(run__code=run_code, type="agent.observed")
    payload = json.loads(ended.latest("seq").payload)
    return FinishIn(outcome=payload["outcome"], summary=payload["summary"])
