"""A granted call is claimed once before it runs, and tells what came of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from django.utils import timezone

from accounts.auth import AgentPrincipal
from common.errors import Forbidden, NotFound
from common.ids import parse_code
from common.long_work import run_long
from common.responses import Reply, build_reply
from gateway.schemas.calls import ResultIn
from gateway.use_cases.access import refuse_unless_calling, require_own_run
from gateway.use_cases.limits.remaining_budget import get_remaining_budget
from gateway.use_cases.steps import refuse_uncountable
from guidance.core.canonical import hash_text, to_canonical_json
from guidance.core.jcs import read_as_stored
from guidance.core.money import parse_usd
from guidance.core.secrets import Redacted, redact
from guidance.redactor import get_fingerprint_key
from ledger.chain import format_timestamp
from ledger.idempotency import Idempotency
from ledger.models import Entry
from ledger.plan import Plan
from ledger.serializers import build_review_url
from ledger.state import RunState, build_state
from ledger.writer import Change, ChangeRequest, SealedEntry, get_writer
from ledger.writer.db_threads import run_in_db_thread
from reviews.errors import (
    GrantExpired,
    GrantMismatch,
    GrantSpent,
    ResultSeen,
    ReviewOpen,
    RunClosed,
    build_review_reference,
    refuse_closed,
)
from reviews.models import Grant, GrantState, ReviewState, ToolCall
from reviews.plan import (
    CLOCK,
    FollowUps,
    load_follow_ups,
    mark_failed_call,
    stop_at_time_limit,
)


@dataclass(kw_only=True)
class CallChangeRequest(ChangeRequest[Reply]):
    """Something an agent does with one of its calls."""

    agent: AgentPrincipal
    call_code: str
    call: ToolCall = field(init=False)

    def load(self, run: RunState, at: datetime) -> None:
        require_own_run(run, self.agent)
        known = parse_code(self.call_code)
        calls = ToolCall.objects.select_related("review__ruling", "grant")
        call = calls.filter(code=known, run_id=run.id).first() if known else None
        if call is None:
            raise NotFound
        self.call = call

    def get_grant(self) -> Grant:
        """The call's grant, or why there is none."""
        call = self.call
        grant: Grant | None = getattr(call, "grant", None)
        if grant is not None:
            return grant
        review = call.review
        if review is None:
            raise Forbidden("The call was blocked: it must not run.")
        if review.state == ReviewState.OPEN:
            url = build_review_url(
                project_slug=self.agent.project_slug, review=str(review.code)
            )
            raise ReviewOpen(
                "A person is asked about this call: wait for the ruling, then claim.",
                review=build_review_reference(
                    code=str(review.code), kind=review.kind, url=url
                ),
            )
        raise Forbidden("The call was not approved: it must not run.")


@dataclass(kw_only=True)
class RedeemGrant(CallChangeRequest):
    """Spend the grant: the one moment when the call may begin."""

    obeys_halts = True

    digest: str
    follow_ups: FollowUps = field(default_factory=dict, init=False)

    def load(self, run: RunState, at: datetime) -> None:
        super().load(run, at)
        self.follow_ups = load_follow_ups(run, at)

    def decide(self, run: RunState, at: datetime) -> Change[Reply]:
        call = self.call
        refuse_closed(run)
        grant = self.get_grant()
        if self.digest != grant.digest:
            raise GrantMismatch(
                "The digest is not the one that was granted: run only what was shown.",
                call=str(call.code),
            )
        if grant.state == GrantState.EXPIRED:
            raise _build_expired_error(grant)
        if grant.state != GrantState.ISSUED:
            raise GrantSpent(f"The grant is {grant.state} already.")
        if at >= grant.expires_at:
            return _expire(run, grant, at)
        refuse_unless_calling(run, self.agent)
        plan = Plan(run, at)
        if run.is_time_over(at):
            stop_at_time_limit(plan, self.follow_ups)
            return plan.refuse(RunClosed.from_run(plan.run))
        plan.add_entry(
            "call.claimed",
            actor=self.agent.actor,
            payload={
                "call": str(call.code),
                "grant": str(grant.code),
                "digest": grant.digest,
            },
        )
        plan.side_updates.append(partial(_end, grant, GrantState.SPENT, at))
        return plan.change(partial(self._answer, call, grant))

    def _answer(
        self, call: ToolCall, grant: Grant, entries: Sequence[SealedEntry]
    ) -> Reply:
        return build_reply(
            {
                "id": str(call.code),
                "run": self.run_code,
                "grant": str(grant.code),
                "digest": grant.digest,
                "kind": call.kind,
                "tool": call.tool,
                "call": get_granted_content(call),
                "claimed_at": format_timestamp(entries[0].at),
                "receipt": entries[0].build_receipt(),
            }
        )


def get_granted_content(call: ToolCall) -> dict[str, Any]:
    """What may run: as it was asked for, or as a person changed it."""
    ruling = getattr(call.review, "ruling", None)
    if ruling is not None and ruling.amended is not None:
        content: dict[str, Any] = json.loads(ruling.amended)
        return {name: part for name, part in content.items() if name != "digest"}
    entry = Entry.objects.get(run_id=call.run_id, seq=call.seq)
    shown: dict[str, Any] = json.loads(entry.payload)["shown"]
    return shown


def _build_expired_error(grant: Grant) -> GrantExpired:
    return GrantExpired(
        f"The grant ended at {format_timestamp(grant.expires_at)}: ask again."
    )


def _expire(run: RunState, grant: Grant, at: datetime) -> Change[Reply]:
    """Too late once is too late for ever, also when the clock is set back."""
    plan = Plan(run, at)
    plan.add_entry(
        "call.expired",
        actor=CLOCK,
        payload={"call": str(grant.call_id), "grant": str(grant.code)},
    )
    plan.side_updates.append(partial(_end, grant, GrantState.EXPIRED, at))
    return plan.refuse(_build_expired_error(grant))


def _end(grant: Grant, state: GrantState, at: datetime) -> None:
    """The project is locked, and still the row itself must agree."""
    unspent = Grant.objects.filter(pk=grant.pk, state=GrantState.ISSUED)
    if unspent.update(state=state, ended_at=at) != 1:
        raise GrantSpent("The grant is spent already.")


@dataclass(kw_only=True)
class SettleCall(CallChangeRequest):
    """What came of a call. Telling it without a claim spends the grant, too."""

    body: ResultIn
    output: Redacted

    def decide(self, run: RunState, at: datetime) -> Change[Reply]:
        call = self.call
        grant = self.get_grant()
        payload = {
            "call": str(call.code),
            "ok": self.body.ok,
            "output": self.output.value,
            "redacted": bool(self.output.findings),
            "duration_ms": self.body.duration_ms,
            "tokens": self.body.tokens,
            "cost_micros": parse_usd(self.body.cost_usd),
            "claimed": grant.state == GrantState.SPENT,
        }
        result = hash_text(to_canonical_json({**payload, "claimed": None}))
        if call.settled_at is not None:
            if result == call.result_digest:
                raise ResultSeen("This result is stored already.")
            raise GrantSpent("Another result of this call is stored already.")
        refuse_closed(run)
        if grant.state == GrantState.REVOKED:
            raise GrantSpent("The grant was revoked: the call must not run.")
        if grant.state == GrantState.EXPIRED:
            raise _build_expired_error(grant)
        if grant.state == GrantState.ISSUED and self.is_past(grant.expires_at, at):
            return _expire(run, grant, at)
        plan = Plan(run, at)
        plan.add_entry("call.settled", actor=self.agent.actor, payload=payload)
        refuse_uncountable(plan.run.used)
        if grant.state == GrantState.ISSUED:
            plan.side_updates.append(partial(_end, grant, GrantState.SPENT, at))
        if not self.body.ok and call.review_id is not None:
            mark_failed_call(plan, review=call.review_id)
        # Only a result that was kept whole can stand for another run of the tool.
        whole = self.body.ok and not self.output.findings
        rows = ToolCall.objects.filter(pk=call.pk)
        plan.side_updates.append(
            partial(
                rows.update,
                ok=self.body.ok,
                output=to_canonical_json(self.output.value) if whole else None,
                result_digest=result,
                settled_at=at,
            )
        )
        remaining = get_remaining_budget(plan.run, at)
        return plan.change(partial(self._answer, remaining))

    def _answer(
        self, remaining: dict[str, Any], entries: Sequence[SealedEntry]
    ) -> Reply:
        return _build_settled_reply(
            self,
            remaining=remaining,
            receipt=entries[0].build_receipt(),
            replayed=False,
        )


def _build_settled_reply(
    change_request: SettleCall,
    *,
    remaining: dict[str, Any],
    receipt: dict[str, Any],
    replayed: bool,
) -> Reply:
    body = {
        "id": change_request.call_code,
        "run": change_request.run_code,
        "ok": change_request.body.ok,
        "budget_remaining": remaining,
        "receipt": receipt,
    }
    return build_reply(body, replayed=replayed)


async def submit_result(
    *,
    agent: AgentPrincipal,
    run_code: str,
    call_code: str,
    body: ResultIn,
    idempotency: Idempotency | None = None,
) -> Reply:
    """The same result again gets the same answer: it was told, and is not told twice."""

    # Beside the event loop and before the writer: an output may be long.
    def read_output() -> Redacted:
        return redact(
            read_as_stored(body.output), fingerprint_key=get_fingerprint_key()
        )

    change_request = SettleCall(
        agent=agent,
        run_code=run_code,
        call_code=call_code,
        body=body,
        output=await run_long(read_output),
        idempotency=idempotency,
    )
    try:
        return await get_writer().perform(change_request)
    except ResultSeen:
        return await run_in_db_thread(partial(_get_settled_reply, change_request))


def _get_settled_reply(change_request: SettleCall) -> Reply:
    call = ToolCall.objects.select_related("run").get(code=change_request.call_code)
    told = Entry.objects.filter(
        run_id=call.run_id, type="call.settled", seq__gt=call.seq
    )
    entry = next(
        entry
        for entry in told.order_by("seq")
        if json.loads(entry.payload)["call"] == change_request.call_code
    )
    return _build_settled_reply(
        change_request,
        remaining=get_remaining_budget(build_state(call.run), call.run.updated_at),
        receipt={"seq": entry.seq, "hash": entry.hash},
        replayed=True,
    )


def get_call_standing(agent: AgentPrincipal, run_code: str, call_code: str) -> Reply:
    """A call as it stands now: an agent that lost an answer finds it here."""
    known, of_run = parse_code(call_code), parse_code(run_code)
    calls = ToolCall.objects.select_related("review__ruling", "grant", "run")
    call = (
        calls.filter(code=known, run__code=of_run, run__agent_id=agent.agent_id).first()
        if known and of_run
        else None
    )
    if call is None:
        raise NotFound
    grant: Grant | None = getattr(call, "grant", None)
    return build_reply(
        {
            "id": str(call.code),
            "run": str(call.run.code),
            "kind": call.kind,
            "tool": call.tool,
            "decision": call.decision,
            "state": _get_state(call, grant),
            "digest": grant.digest if grant else call.digest,
            "call": get_granted_content(call),
            "review": str(call.review.code) if call.review else None,
            "grant": str(grant.code) if grant else None,
            "grant_expires_at": format_timestamp(grant.expires_at) if grant else None,
            "ok": call.ok,
        }
    )


def _get_state(call: ToolCall, grant: Grant | None) -> str:
    """Where the call is on its way: waiting, granted, claimed, settled, or refused."""
    if call.settled_at is not None:
        return "settled"
    if grant is None:
        open_review = call.review and call.review.state == ReviewState.OPEN
        return "waiting" if open_review else "refused"
    if grant.state == GrantState.ISSUED:
        return "granted" if timezone.now() < grant.expires_at else "expired"
    return "claimed" if grant.state == GrantState.SPENT else grant.state
