"""Which call a tool use was judged as, and what the host was told about it."""

from __future__ import annotations

import json
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.auth import AgentPrincipal
from common.errors import Invalid
from gateway.coding_agents.session_events import HookEvent, SessionRun
from gateway.models import HookAnswer, HookCall
from gateway.use_cases.answers.calls import build_call_answer
from ledger.models import Entry
from reviews.agent_notes.selectors import list_unread_of_call
from reviews.models import GrantState, ReviewState, ToolCall

Judged = dict[str, Any]
# The event at which neither host takes words for its model: they come with the result.
PERMISSION = "PermissionRequest"


def get_earlier_answer(hook: HookEvent, run: SessionRun) -> Judged | None:
    """The answer this very tool use was given: after a lost answer, or a resume."""
    use = find_tool_use(hook, run)
    if use is None:
        return None
    if use.fingerprint != hook.fingerprint:
        raise Invalid(
            f"The tool use {hook.tool_use} was judged with another input: send each "
            "under an id of its own."
        )
    answer = _load_answer(use.call, hook.agent)
    if hook.carries_notes:
        answer["notes"] = list_unread_of_call(use.call.run_id, use.call.code)
    return answer


def find_waiting_call(hook: HookEvent, run: SessionRun) -> Judged | None:
    """The same call under an earlier id, if it waits for a person or was just let run.

    An agent that asks again is not put before a person a second time.
    """
    waits = Q(call__review__state=ReviewState.OPEN)
    let_run = Q(
        call__grant__state=GrantState.ISSUED,
        call__grant__expires_at__gt=timezone.now(),
        call__review__isnull=False,
    )
    use = (
        _list_tool_uses(run)
        .filter(
            waits | let_run,
            call__run__code=run.run,
            fingerprint=hook.fingerprint,
        )
        .order_by("-pk")
        .first()
    )
    return _load_answer(use.call, hook.agent) if use else None


def find_next_to_run(hook: HookEvent, run: SessionRun) -> HookCall | None:
    """The newest tool use of this very kind, unless it has run already: what let one
    through says nothing about the next."""
    alike = _list_tool_uses(run).filter(
        call__run__code=run.run, fingerprint=hook.fingerprint
    )
    newest = alike.exclude(tool_use=hook.tool_use).order_by("-pk").first()
    return newest if newest and newest.call.settled_at is None else None


def find_tool_use(hook: HookEvent, run: SessionRun) -> HookCall | None:
    return _list_tool_uses(run).filter(tool_use=hook.tool_use).first()


def find_permitted_use(hook: HookEvent, run: SessionRun) -> HookCall | None:
    """Find what the host asked its user's permission for, under no id, where that was the
    only question about the tool that has run now."""
    asked = _list_tool_uses(run).filter(
        call__run__code=run.run,
        fingerprint=hook.fingerprint,
        tool_use__startswith=f"{PERMISSION}:",
        call__settled_at=None,
    )
    return asked.order_by("-pk").first()


def store_tool_use(
    hook: HookEvent, run: SessionRun, call: str, answer: HookAnswer
) -> None:
    HookCall.objects.update_or_create(
        session_id=run.session_id,
        tool_use=hook.tool_use,
        defaults={
            "call_id": call,
            "fingerprint": hook.fingerprint,
            "answer": answer,
        },
    )


def _list_tool_uses(run: SessionRun) -> QuerySet[HookCall]:
    uses = HookCall.objects.select_related("call__run", "call__review", "call__grant")
    return uses.filter(session_id=run.session_id)


def _load_answer(call: ToolCall, agent: AgentPrincipal) -> Judged:
    entry = Entry.objects.get(run_id=call.run_id, seq=call.seq)
    return build_call_answer(
        run=str(call.run.code),
        project_slug=agent.project_slug,
        payload=json.loads(entry.payload),
        receipt={"seq": entry.seq, "hash": entry.hash},
    )
