"""The agent asks before it acts: every call is judged before it runs.

The gates that need no run look at the call outside of the writer; the writer adds the
budget and decides, so that a limit of N lets exactly N calls through.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from django.db.models import Model

from accounts.auth import AgentPrincipal
from common.ids import uuid7
from common.responses import Reply, build_reply
from gateway.use_cases.access import (
    first_review,
    own,
    policy_of_run,
    refuse_unless_calling,
    remembered_policy,
)
from gateway.use_cases.remaining_budget import budget_remaining
from gateway.use_cases.review_links import reference
from guidance.core.arguments import build_call_key, is_allowlisted
from guidance.core.policy.caps import CapReached
from guidance.core.review_limit import block_at_cap
from guidance.core.tools.calls import Call, ToolCall, compute_call_digest
from guidance.core.tools.findings import CallFinding
from guidance.core.tools.judge_call import (
    GATEWAY_VERSION,
    CallVerdict,
    check_call_budget,
    judge_call,
)
from guidance.core.tools.permission_shapes import is_permittable
from guidance.redactor import get_fingerprint_key
from guidance.selectors import LoadedPolicy
from ledger.idempotency import Idempotency
from ledger.plan import Plan
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest, SealedEntry, writer
from ledger.writer.db_threads import run_in_db_thread
from reviews import models
from reviews.caps import reached_review_cap
from reviews.errors import PermissionGone, RunPaused
from reviews.permissions.grants import NewGrant, grant_for
from reviews.permissions.standing import Use, get_permission, permission_for
from reviews.plan import open_review

GATEWAY = "system:tool-gateway"
# A person who is asked more than this about one run is asked too much.
OPEN_CONFIRMATIONS = 20
# So much of a call stands in the title of its review.
TITLE_WORDS = 80
# Judging a longer call takes longer than others should have to wait for the event loop.
_LONG = 20_000


@dataclass(kw_only=True)
class JudgeCall(ChangeRequest[Reply]):
    """One call: let through, put before a person, or refused.

    `reached` is the cap that left no room for a review when the call came in.
    """

    locked = False

    agent: AgentPrincipal
    policy: LoadedPolicy
    verdict: CallVerdict
    digest: str
    key: str
    reached: CapReached | None = None
    call_code: str = field(default_factory=lambda: str(uuid7()))

    def load(self, run: RunState, at: datetime) -> None:
        """Whether there still is room for a review, while nobody else can take it."""
        if self.needs_lock and self.reached is None:
            self.reached = reached_review_cap(
                project_id=run.project_id, agent_id=run.agent_id
            )

    def decide(self, run: RunState, at: datetime) -> Change[Reply]:
        plan, verdict = self._begin(run, at)
        return self._judge(plan, verdict)

    def _begin(self, run: RunState, at: datetime) -> tuple[Plan, CallVerdict]:
        own(run, self.agent)
        refuse_unless_calling(run, self.agent)
        budget = check_call_budget(
            budget=run.budget, used=run.used, reserved=run.reserved_calls
        )
        return Plan(run, at), self.verdict.with_finding(budget)

    def _judge(
        self, plan: Plan, verdict: CallVerdict, *, use: Use | None = None
    ) -> Change[Reply]:
        reached = None
        if verdict.decision == "require-confirmation":
            if self.reached is None:
                self.require_lock()
            reached = self.reached
            verdict = block_at_cap(verdict, reached)
        grant = None
        if use or verdict.decision in {"allow", "warn"}:
            grant = grant_for(self.digest, policy=self.policy, at=plan.at)
        payload = self._payload(verdict, grant, use)
        if reached is not None:
            payload["review_limit"] = reached.to_json()
        seq = plan.next_seq
        plan.note("call.judged", actor=self.agent.actor, payload=payload)
        if verdict.decision == "require-confirmation":
            payload["review"] = self._put_before_a_person(plan, verdict)
        payload["budget_remaining"] = budget_remaining(plan.run)
        plan.rows += self._rows(plan, payload, grant, use, seq)
        if use is not None:
            plan.effects.append(partial(use.store, plan.at))
        return plan.change(self._answer)

    def _payload(
        self, verdict: CallVerdict, grant: NewGrant | None, use: Use | None
    ) -> dict[str, Any]:
        return {
            "call": self.call_code,
            "kind": verdict.call.kind,
            "tool": verdict.tool,
            "digest": self.digest,
            "shown": verdict.shown,
            "redacted": verdict.redacted,
            **verdict.to_json(),
            "weight": verdict.weight,
            "preview": verdict.preview,
            "grant": grant.to_json() if grant else None,
            "review": None,
            "permission": use.to_json() if use else None,
            "policy": self.policy.stamp(),
            "engine": GATEWAY_VERSION,
        }

    def _put_before_a_person(self, plan: Plan, verdict: CallVerdict) -> dict[str, str]:
        """The draft is sealed later, so the call's own entry can name its review."""
        if plan.run.reserved_calls >= OPEN_CONFIRMATIONS:
            raise RunPaused(
                f"{OPEN_CONFIRMATIONS} calls of this run wait for a person already.",
                review=first_review(plan.run, project_slug=self.agent.project_slug),
            )
        rules = self.policy.policy.tools
        asked = [f for f in verdict.findings if f.decision == "require-confirmation"]
        code = open_review(
            plan,
            kind="confirmation",
            title=_title(verdict.tool, asked[0]),
            content={
                "kind": "confirmation",
                "call": self.call_code,
                "call_kind": verdict.call.kind,
                "tool": verdict.tool,
                "digest": self.digest,
                "shown": verdict.shown,
                "findings": verdict.to_json()["findings"],
                "preview": verdict.preview,
                "expires_s": rules.grant_expires_s,
                # Several edits are never permitted: their original is not kept.
                "permittable": verdict.call.kind != "multi_edit"
                and is_permittable(verdict.findings, always_ask=rules.always_ask),
            },
            actor=GATEWAY,
            step=plan.run.memory.last_step or None,
        )
        return {"id": code, "kind": "confirmation"}

    def _rows(
        self,
        plan: Plan,
        payload: dict[str, Any],
        grant: NewGrant | None,
        use: Use | None,
        seq: int,
    ) -> Iterator[Model]:
        review = payload["review"]
        yield models.ToolCall(
            code=self.call_code,
            project_id=plan.run.project_id,
            run_id=plan.run.id,
            review_id=review["id"] if review else None,
            kind=payload["kind"],
            # Labels of secrets in a name can be longer than the name itself.
            tool=payload["tool"][:200],
            key=self.key,
            digest=self.digest,
            decision=payload["decision"],
            seq=seq,
            judged_at=plan.at,
        )
        if grant is not None:
            yield grant.row(
                call_code=self.call_code,
                run_id=plan.run.id,
                permission_id=use.permission_id if use else None,
            )

    def _answer(self, entries: Sequence[SealedEntry]) -> Reply:
        return build_reply(
            call_answer(
                run=self.run_code,
                project_slug=self.agent.project_slug,
                payload=json.loads(entries[0].payload),
                receipt=entries[0].receipt(),
            ),
            status=201,
        )


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
        use = Use.of(self.permission, verdict=verdict, at=at)
        return self._judge(plan, use.allowing(verdict), use=use)


@dataclass(kw_only=True)
class RepeatCall(JudgeCall):
    """The policy says that the tool is idempotent, and its result is stored."""

    stored: models.ToolCall

    def decide(self, run: RunState, at: datetime) -> Change[Reply]:
        plan, verdict = self._begin(run, at)
        if verdict.decision not in {"allow", "warn"}:
            return self._judge(plan, verdict)
        payload = {
            **self._payload(verdict, None, None),
            "call": str(self.stored.code),
            "budget_remaining": budget_remaining(run),
        }
        plan.note("call.replayed", actor=self.agent.actor, payload=payload)
        return plan.change(self._stored_answer)

    def _stored_answer(self, entries: Sequence[SealedEntry]) -> Reply:
        answer = call_answer(
            run=self.run_code,
            project_slug=self.agent.project_slug,
            payload=json.loads(entries[0].payload),
            receipt=entries[0].receipt(),
        )
        output = json.loads(self.stored.output or "null")
        return build_reply({**answer, "replayed": True, "output": output}, status=201)


def _title(tool: str, finding: CallFinding) -> str:
    """What tells this call from the others that wait: its own words first."""
    words = " ".join(str(finding.details.get("text") or tool).split())
    shown = words if len(words) <= TITLE_WORDS else words[: TITLE_WORDS - 1] + "…"
    return f"{shown}: {finding.message}"


def call_answer(
    *,
    run: str,
    project_slug: str,
    payload: dict[str, Any],
    receipt: dict[str, Any],
) -> dict[str, Any]:
    """The answer to a call, from the stored entry alone: the same for ever."""
    grant = payload["grant"]
    return {
        "id": payload["call"],
        "run": run,
        "decision": payload["decision"],
        "findings": payload["findings"],
        "digest": payload["digest"],
        "review": reference(payload["review"], project_slug=project_slug),
        "grant": grant["id"] if grant else None,
        "grant_expires_at": grant["expires_at"] if grant else None,
        "replayed": False,
        "output": None,
        "budget_remaining": payload["budget_remaining"],
        "preview": payload["preview"],
        "policy": payload["policy"],
        "receipt": receipt,
    }


async def call_submit(
    *,
    agent: AgentPrincipal,
    run_code: str,
    call: Call,
    idempotency: Idempotency | None = None,
) -> Reply:
    policy = remembered_policy(agent, run_code)
    if policy is None:
        policy = await run_in_db_thread(partial(policy_of_run, agent, run_code))
    verdict = await judge_without_run(call, policy)
    key = get_fingerprint_key() if verdict.redacted else None
    reached = None
    if verdict.decision == "require-confirmation":
        # Looked at here first: a flood that is refused anyway takes nobody's lock.
        look = partial(
            reached_review_cap, project_id=agent.project_id, agent_id=agent.agent_id
        )
        reached = await run_in_db_thread(look)
    command = partial(
        JudgeCall,
        agent=agent,
        run_code=run_code,
        policy=policy,
        verdict=verdict,
        digest=compute_call_digest(verdict.call, run=run_code, key=key),
        key=_key(verdict, run=run_code, policy=policy),
        reached=reached,
        idempotency=idempotency,
    )
    return await _perform(command, agent=agent, policy=policy, verdict=verdict)


async def _perform(
    command: partial[JudgeCall],
    *,
    agent: AgentPrincipal,
    policy: LoadedPolicy,
    verdict: CallVerdict,
) -> Reply:
    rules = policy.policy.tools
    fields = command.keywords
    repeats = verdict.decision in {"allow", "warn"} and fields["key"]
    if repeats and is_allowlisted(verdict.call.tool, rules.idempotent):
        stored = await run_in_db_thread(
            partial(_stored_result, agent, fields["run_code"], fields["key"])
        )
        if stored is not None:
            return await writer().perform(RepeatCall(**fields, stored=stored))
    if is_permittable(verdict.findings, always_ask=rules.always_ask):
        permission = await run_in_db_thread(
            partial(permission_for, project_id=agent.project_id, verdict=verdict)
        )
        if permission is not None:
            try:
                return await writer().perform(
                    JudgePermittedCall(**fields, permission_id=permission)
                )
            except PermissionGone:
                pass  # it ended in between: a person is asked, as without it
    return await writer().perform(command())


async def judge_without_run(call: Call, policy: LoadedPolicy) -> CallVerdict:
    """What the gates say that need no run; long calls leave the event loop free."""
    judge = partial(
        judge_call,
        rules=policy.policy.tools,
        call=call,
        fingerprint_key=get_fingerprint_key(),
    )
    if len(repr(call)) < _LONG:
        return judge()
    return await asyncio.to_thread(judge)


def _key(verdict: CallVerdict, *, run: str, policy: LoadedPolicy) -> str:
    """What makes two calls the same; empty where a call is never repeated."""
    call = verdict.call
    if verdict.redacted or (isinstance(call, ToolCall) and call.arguments_json):
        return ""
    return build_call_key(
        run=run,
        tool=call.tool,
        arguments={"kind": call.kind, **call.to_fields()},
        policy_hash=policy.hash,
    )


def _stored_result(
    agent: AgentPrincipal, run_code: str, key: str
) -> models.ToolCall | None:
    """The newest result that succeeded and was kept whole."""
    return (
        models.ToolCall.objects.filter(
            run__code=run_code,
            run__agent_id=agent.agent_id,
            key=key,
            ok=True,
            output__isnull=False,
        )
        .order_by("-pk")
        .first()
    )
