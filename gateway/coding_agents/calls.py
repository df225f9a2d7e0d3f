"""Before a tool runs: judged, and where a person is asked, held until they ruled."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from functools import partial
from typing import Any

from common.errors import Forbidden
from gateway.coding_agents import tool_uses, wording
from gateway.coding_agents.holding import Standing, lets_go_on, wait_for_ruling
from gateway.coding_agents.mapping import call_of, input_of
from gateway.coding_agents.replies import Outcome, Verb, choose_parked_verb
from gateway.coding_agents.session_events import Governed, Visit
from gateway.coding_agents.sessions import ensure_run, reload_run
from gateway.coding_agents.tool_uses import Judged
from gateway.models import HookAnswer
from gateway.use_cases.claims import ClaimCall
from gateway.use_cases.tool_calls import call_submit
from ledger.writer import writer
from ledger.writer.db_threads import run_in_db_thread
from reviews.errors import GrantExpired, GrantSpent, RunClosed, RunPaused

# Judged, and told to run or to ask its own user.
_LEFT_TO_THE_HOST = frozenset({HookAnswer.GO, HookAnswer.ALLOW, HookAnswer.ASK})
_behind: set[asyncio.Task[Any]] = set()


async def before_tool(visit: Visit) -> Outcome:
    """PreToolUse."""
    visit.body.needs("tool_name", "tool_input", "tool_use_id")
    return await _judge(visit)


async def permission_asked(visit: Visit) -> Outcome:
    """PermissionRequest: the host would ask its user. What a person of ours has
    approved need not be asked again; what nobody has judged yet is judged now."""
    visit.body.needs("tool_name", "tool_input")
    run = await ensure_run(visit)
    if run.over:
        return run.describe_halt()
    before = await run_in_db_thread(partial(tool_uses.about_to_run, visit, run))
    if before is None or before.answer not in _LEFT_TO_THE_HOST:
        return await _judge(visit)
    if before.answer == HookAnswer.ALLOW:
        return Outcome(verb="allow")
    let_go = before.answer == HookAnswer.GO and visit.options.on_allow == "allow"
    return Outcome(verb="allow" if let_go else "go")


async def _judge(visit: Visit) -> Outcome:
    run = await ensure_run(visit)
    if run.over:
        return run.describe_halt()
    call = await run_in_db_thread(partial(tool_uses.judged_before, visit, run))
    if call is None:
        call = await run_in_db_thread(partial(tool_uses.still_waiting, visit, run))
        if call is not None:
            again = await _interpret_answer(visit, run, call)
            if again is not None:
                return again
        asked = await _submit(visit, run)
        if isinstance(asked, Outcome):
            return asked
        call = asked
    outcome = await _interpret_answer(visit, run, call)
    if outcome is not None:
        return outcome
    return Outcome(verb="deny", reason=wording.USED_UP)


async def _submit(visit: Visit, run: Governed) -> Judged | Outcome:
    """The call's answer; or why there is none, where the run as a whole waits."""
    call = await asyncio.to_thread(call_of, visit.tool, visit.given)
    while True:
        try:
            reply = await call_submit(
                agent=visit.agent,
                run_code=run.run,
                call=call,
                idempotency=visit.once("call", status=201),
            )
        except RunClosed:
            return (await reload_run(visit)).describe_halt()
        except RunPaused as pause:
            waits = pause.extra["review"]
            standing = await wait_for_ruling(visit, run, waits["id"])
            if standing["state"] == "open":
                # Not judged: nobody at the terminal may let it through unseen.
                verb: Verb = choose_parked_verb(
                    visit.dialect, headless=_headless(visit, run)
                )
                verb = "deny" if verb == "ask" else verb
                return Outcome(verb=verb, reason=wording.describe_pause(waits["url"]))
            if not lets_go_on(standing):
                return (await reload_run(visit)).describe_halt()
            continue
        judged: Judged = json.loads(reply.body)
        return judged


async def _interpret_answer(
    visit: Visit, run: Governed, call: Judged
) -> Outcome | None:
    """What the call's decision means; None where its grant is used up already."""
    if call["replayed"]:
        # Its stored output cannot be handed to this host: the tool runs again.
        return _let(visit, call)
    note = partial(tool_uses.remember, visit, run, call["id"])
    if call["decision"] == "require-confirmation":
        await run_in_db_thread(partial(note, HookAnswer.NOTHING_YET))
    outcome = await _apply_decision(visit, run, call)
    if outcome is not None:
        told = "deny" if outcome.verb == "halt" else outcome.verb
        await run_in_db_thread(partial(note, HookAnswer(told)))
    return outcome


async def _apply_decision(visit: Visit, run: Governed, call: Judged) -> Outcome | None:
    match call["decision"]:
        case "block":
            return Outcome(verb="deny", reason=wording.describe_block(call["findings"]))
        case "require-confirmation":
            return await _wait_for_person(visit, run, call)
        case _:
            claimed = await _claim_grant(visit, run, call["id"], call["digest"])
            return claimed if isinstance(claimed, Outcome | None) else _let(visit, call)


def _let(visit: Visit, call: Judged) -> Outcome:
    verb: Verb = "allow" if visit.options.on_allow == "allow" else "go"
    warns = call["decision"] == "warn"
    return Outcome(
        verb=verb, context=wording.describe_warning(call["findings"]) if warns else ""
    )


async def _wait_for_person(visit: Visit, run: Governed, call: Judged) -> Outcome | None:
    review = call["review"]
    try:
        standing = await wait_for_ruling(visit, run, review["id"])
    except asyncio.CancelledError:
        note = partial(tool_uses.remember, visit, run, call["id"], HookAnswer.LEFT)
        _later(run_in_db_thread(note))
        raise
    if standing["state"] == "open":
        verb = choose_parked_verb(visit.dialect, headless=_headless(visit, run))
        reason = wording.describe_wait(review, call["findings"])
        return Outcome(verb=verb, reason=reason)
    return await _apply_ruling(visit, run, call, standing)


async def _apply_ruling(
    visit: Visit, run: Governed, call: Judged, standing: Standing
) -> Outcome | None:
    ruling = standing["ruling"]
    if ruling is not None and ruling["action"] in {"approve", "amend"}:
        amended = ruling["amended"]
        digest = amended["digest"] if amended else call["digest"]
        claimed = await _claim_grant(visit, run, call["id"], digest)
        if isinstance(claimed, Outcome | None):
            return claimed
        reason = wording.describe_approval(ruling, amended=amended is not None)
        if amended is None:
            return Outcome(verb="allow", reason=reason)
        return _as_changed(visit, ruling, claimed, reason)
    now = await reload_run(visit)
    if now.over:
        return now.describe_halt()
    if ruling is not None:
        return Outcome(verb="deny", reason=wording.describe_denial(ruling))
    return Outcome(
        verb="deny",
        reason=f"Checkrail: the review of this call is {standing['state']}.",
    )


def _as_changed(
    visit: Visit, ruling: dict[str, Any], claimed: dict[str, Any], reason: str
) -> Outcome:
    """With the changed input, where the host takes one; else the agent sends it."""
    granted = claimed["call"]
    updated = input_of(visit.given, visit.tool, claimed["kind"], granted)
    if updated is None or visit.event == "PermissionRequest":
        return Outcome(verb="deny", reason=wording.describe_change(ruling, granted))
    return Outcome(
        verb="allow", reason=reason, context=wording.AMENDED, updated=updated
    )


async def _claim_grant(
    visit: Visit, run: Governed, call: str, digest: str
) -> dict[str, Any] | Outcome | None:
    """The claim; an outcome where the run is over or the grant is, None where spent."""
    command = ClaimCall(
        agent=visit.agent,
        run_code=run.run,
        call_code=call,
        digest=digest,
        idempotency=visit.once(f"claim {call}", status=200),
    )
    try:
        reply = await _perform_when_unpaused(visit, run, command)
    except RunClosed:
        return (await reload_run(visit)).describe_halt()
    except GrantSpent:
        return None
    except (GrantExpired, Forbidden) as refusal:
        return Outcome(verb="deny", reason=f"Checkrail: {refusal.detail}")
    if isinstance(reply, Outcome):
        return reply
    claim: dict[str, Any] = json.loads(reply.body)
    return claim


async def _perform_when_unpaused(
    visit: Visit, run: Governed, command: ClaimCall
) -> Any:
    """A run may be paused between the grant and its claim: then it is waited for."""
    while True:
        try:
            return await writer().perform(command)
        except RunPaused as pause:
            standing = await wait_for_ruling(visit, run, pause.extra["review"]["id"])
            if standing["state"] == "open":
                url = pause.extra["review"]["url"]
                return Outcome(verb="deny", reason=wording.describe_pause(url))
            if not lets_go_on(standing):
                raise RunClosed("The run was ended.") from None


def _headless(visit: Visit, run: Governed) -> bool:
    return visit.options.headless or run.headless


def _later(work: Coroutine[Any, Any, Any]) -> None:
    """Done although nobody waits for it any more."""
    task = asyncio.ensure_future(work)
    _behind.add(task)
    task.add_done_callback(_behind.discard)
