"""Before a tool runs: judged, and where a person is asked, held until they ruled."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from functools import partial
from typing import Any

from common.errors import Forbidden
from common.long_work import run_long
from gateway.coding_agents import tool_uses, wording
from gateway.coding_agents.mapping import build_call, build_input
from gateway.coding_agents.replies import HostDecision, Outcome, choose_parked_decision
from gateway.coding_agents.session_events import HookEvent, SessionRun
from gateway.coding_agents.sessions import ensure_run, reload_run
from gateway.coding_agents.tool_uses import Judged
from gateway.coding_agents.waiting import (
    DecisionState,
    add_agent_notes,
    allows_continuing,
    wait_for_ruling,
)
from gateway.models import HookAnswer
from gateway.use_cases.claims import RedeemGrant
from gateway.use_cases.tool_calls import submit_call
from ledger.writer import get_writer
from ledger.writer.db_threads import run_in_db_thread
from reviews.errors import GrantExpired, GrantSpent, RunClosed, RunPaused

# Judged, and told to run or to ask its own user.
_LEFT_TO_THE_HOST = frozenset({HookAnswer.GO, HookAnswer.ALLOW, HookAnswer.ASK})
_behind: set[asyncio.Task[Any]] = set()


async def handle_pre_tool_use(hook: HookEvent) -> Outcome:
    """PreToolUse."""
    hook.body.needs("tool_name", "tool_input", "tool_use_id")
    return await _judge(hook)


async def handle_permission_request(hook: HookEvent) -> Outcome:
    """PermissionRequest: the host would ask its user. What a person of ours has
    approved need not be asked again; what nobody has judged yet is judged now."""
    hook.body.needs("tool_name", "tool_input")
    run = await ensure_run(hook)
    if run.over:
        return run.describe_halt()
    before = await run_in_db_thread(partial(tool_uses.find_next_to_run, hook, run))
    if before is None or before.answer not in _LEFT_TO_THE_HOST:
        return await _judge(hook)
    if before.answer == HookAnswer.ALLOW:
        return Outcome(decision="allow")
    let_go = before.answer == HookAnswer.GO and hook.options.on_allow == "allow"
    return Outcome(decision="allow" if let_go else "go")


async def _judge(hook: HookEvent) -> Outcome:
    run = await ensure_run(hook)
    if run.over:
        return run.describe_halt()
    call = await run_in_db_thread(partial(tool_uses.get_earlier_answer, hook, run))
    if call is not None:
        add_agent_notes(hook, call)
    else:
        call = await run_in_db_thread(partial(tool_uses.find_waiting_call, hook, run))
        if call is not None:
            again = await _interpret_answer(hook, run, call)
            if again is not None:
                return again
        asked = await _submit(hook, run)
        if isinstance(asked, Outcome):
            return asked
        call = asked
    outcome = await _interpret_answer(hook, run, call)
    if outcome is not None:
        return outcome
    return Outcome(decision="deny", reason=wording.USED_UP)


async def _submit(hook: HookEvent, run: SessionRun) -> Judged | Outcome:
    """The call's answer; or why there is none, where the run as a whole waits."""
    call = await run_long(build_call, hook.tool, hook.given)
    while True:
        try:
            reply = await submit_call(
                agent=hook.agent,
                run_code=run.run,
                call=call,
                idempotency=hook.build_idempotency("call"),
                carries_notes=hook.carries_notes,
            )
        except RunClosed:
            return (await reload_run(hook)).describe_halt()
        except RunPaused as pause:
            waits = pause.extra["review"]
            decision_state = await wait_for_ruling(hook, run, waits["id"])
            if decision_state["state"] == "open":
                # Not judged: nobody at the terminal may let it through unseen.
                decision: HostDecision = choose_parked_decision(
                    hook.host, headless=_is_headless(hook, run)
                )
                decision = "deny" if decision == "ask" else decision
                return Outcome(
                    decision=decision, reason=wording.describe_pause(waits["url"])
                )
            if not allows_continuing(decision_state):
                return (await reload_run(hook)).describe_halt()
            continue
        judged: Judged = json.loads(reply.body)
        add_agent_notes(hook, judged)
        return judged


async def _interpret_answer(
    hook: HookEvent, run: SessionRun, call: Judged
) -> Outcome | None:
    """What the call's decision means; None where its grant is used up already."""
    if call["replayed"]:
        # Its stored output cannot be handed to this host: the tool runs again.
        return _allow_call(hook, call)
    note = partial(tool_uses.store_tool_use, hook, run, call["id"])
    if call["decision"] == "require-confirmation":
        await run_in_db_thread(partial(note, HookAnswer.NOTHING_YET))
    outcome = await _apply_decision(hook, run, call)
    if outcome is not None:
        told = "deny" if outcome.decision == "halt" else outcome.decision
        await run_in_db_thread(partial(note, HookAnswer(told)))
    return outcome


async def _apply_decision(
    hook: HookEvent, run: SessionRun, call: Judged
) -> Outcome | None:
    match call["decision"]:
        case "block":
            return Outcome(
                decision="deny", reason=wording.describe_block(call["findings"])
            )
        case "require-confirmation":
            return await _wait_for_person(hook, run, call)
        case _:
            claimed = await _redeem_grant(hook, run, call["id"], call["digest"])
            return (
                claimed
                if isinstance(claimed, Outcome | None)
                else _allow_call(hook, call)
            )


def _allow_call(hook: HookEvent, call: Judged) -> Outcome:
    decision: HostDecision = "allow" if hook.options.on_allow == "allow" else "go"
    warns = call["decision"] == "warn"
    return Outcome(
        decision=decision,
        context=wording.describe_warning(call["findings"]) if warns else "",
    )


async def _wait_for_person(
    hook: HookEvent, run: SessionRun, call: Judged
) -> Outcome | None:
    review = call["review"]
    try:
        decision_state = await wait_for_ruling(hook, run, review["id"])
    except asyncio.CancelledError:
        note = partial(tool_uses.store_tool_use, hook, run, call["id"], HookAnswer.LEFT)
        _run_later(run_in_db_thread(note))
        raise
    if decision_state["state"] == "open":
        decision = choose_parked_decision(hook.host, headless=_is_headless(hook, run))
        reason = wording.describe_wait(review, call["findings"])
        return Outcome(decision=decision, reason=reason)
    return await _apply_ruling(hook, run, call, decision_state)


async def _apply_ruling(
    hook: HookEvent, run: SessionRun, call: Judged, decision_state: DecisionState
) -> Outcome | None:
    ruling = decision_state["ruling"]
    if ruling is not None and ruling["action"] in {"approve", "amend"}:
        amended = ruling["amended"]
        digest = amended["digest"] if amended else call["digest"]
        claimed = await _redeem_grant(hook, run, call["id"], digest)
        if isinstance(claimed, Outcome | None):
            return claimed
        reason = wording.describe_approval(ruling, amended=amended is not None)
        if amended is None:
            return Outcome(decision="allow", reason=reason)
        return _allow_changed_call(hook, ruling, claimed, reason)
    now = await reload_run(hook)
    if now.over:
        return now.describe_halt()
    if ruling is not None:
        return Outcome(decision="deny", reason=wording.describe_denial(ruling))
    return Outcome(
        decision="deny",
        reason=f"Checkrail: the review of this call is {decision_state['state']}.",
    )


def _allow_changed_call(
    hook: HookEvent, ruling: dict[str, Any], claimed: dict[str, Any], reason: str
) -> Outcome:
    """With the changed input, where the host takes one; else the agent sends it."""
    granted = claimed["call"]
    updated = build_input(hook.given, hook.tool, claimed["kind"], granted)
    if updated is None or hook.event == "PermissionRequest":
        return Outcome(decision="deny", reason=wording.describe_change(ruling, granted))
    context = wording.describe_amendment(hook.given, updated)
    return Outcome(decision="allow", reason=reason, context=context, updated=updated)


async def _redeem_grant(
    hook: HookEvent, run: SessionRun, call: str, digest: str
) -> dict[str, Any] | Outcome | None:
    """The claim; an outcome where the run is over or the grant is, None where spent."""
    change_request = RedeemGrant(
        agent=hook.agent,
        run_code=run.run,
        call_code=call,
        digest=digest,
        idempotency=hook.build_idempotency(f"claim {call}"),
    )
    try:
        reply = await _perform_when_unpaused(hook, run, change_request)
    except RunClosed:
        return (await reload_run(hook)).describe_halt()
    except GrantSpent:
        return None
    except (GrantExpired, Forbidden) as refusal:
        return Outcome(decision="deny", reason=f"Checkrail: {refusal.detail}")
    if isinstance(reply, Outcome):
        return reply
    claim: dict[str, Any] = json.loads(reply.body)
    return claim


async def _perform_when_unpaused(
    hook: HookEvent, run: SessionRun, change_request: RedeemGrant
) -> Any:
    """A run may be paused between the grant and its claim: then it is waited for."""
    while True:
        try:
            return await get_writer().perform(change_request)
        except RunPaused as pause:
            decision_state = await wait_for_ruling(
                hook, run, pause.extra["review"]["id"]
            )
            if decision_state["state"] == "open":
                url = pause.extra["review"]["url"]
                return Outcome(decision="deny", reason=wording.describe_pause(url))
            if not allows_continuing(decision_state):
                raise RunClosed("The run was ended.") from None


def _is_headless(hook: HookEvent, run: SessionRun) -> bool:
    return hook.options.headless or run.headless


def _run_later(work: Coroutine[Any, Any, Any]) -> None:
    """Done although nobody waits for it any more."""
    task = asyncio.ensure_future(work)
    _behind.add(task)
    task.add_done_callback(_behind.discard)
