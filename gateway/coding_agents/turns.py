"""When the agent would stop: is it done, half-way, or does it ask a person?"""

from __future__ import annotations

import json

from common.long_work import run_long
from gateway.coding_agents import wording
from gateway.coding_agents.mapping import shorten
from gateway.coding_agents.replies import GO, Outcome
from gateway.coding_agents.session_events import HookEvent, SessionRun
from gateway.coding_agents.sessions import find_run, reload_run
from gateway.coding_agents.steps import report_step
from gateway.coding_agents.superseded import WITHOUT_IT, clear_calls
from gateway.coding_agents.waiting import add_agent_notes, wait_for_ruling
from gateway.models import HookAnswer
from gateway.schemas.checks import TurnIn
from gateway.use_cases.agent_notes import deliver_with_turn
from gateway.use_cases.turns import submit_turn
from reviews.errors import RunClosed, RunPaused

# Whoever sits at the terminal can answer there: they are not kept from it for long.
ATTENDED_SECONDS = 60
CONTENT_READ = 50_000


async def handle_stop(hook: HookEvent) -> Outcome:
    """Stop and SubagentStop."""
    outcome = await _handle_end(hook)
    if hook.event != "Stop" or outcome.decision != "go":
        return outcome
    return await _go_on_with_notes(hook, outcome)


async def _go_on_with_notes(hook: HookEvent, outcome: Outcome) -> Outcome:
    """What somebody wrote is not left until the next prompt: the agent hears it now."""
    run = await find_run(hook)
    if run is not None and run.status == "running":
        notes = await deliver_with_turn(agent=hook.agent, run_code=run.run)
        add_agent_notes(hook, {"notes": notes})
    if not hook.notes:
        return outcome
    return Outcome(decision="continue_work", reason=wording.NOTED)


async def _handle_end(hook: HookEvent) -> Outcome:
    run = await find_run(hook)
    if run is None:
        return GO
    if run.over:
        return run.describe_halt()
    if hook.event == "Stop":
        gone = (HookAnswer.ASK, HookAnswer.LEFT, HookAnswer.DEFER)
        await clear_calls(hook, run, *gone, reason=WITHOUT_IT)
    if hook.body.checkrail.tokens:
        outcome = await report_step(
            hook, run, tool_calls=0, summary=f"Answered: {_describe_message(hook)}"
        )
        if outcome.decision != "go":
            return outcome
    if hook.body.background_tasks:
        return GO  # something is still at work and will wake the agent again
    return await _judge(hook, run)


async def _judge(hook: HookEvent, run: SessionRun) -> Outcome:
    said = (hook.body.last_assistant_message or "")[-CONTENT_READ:]
    body = await run_long(
        TurnIn,
        finish_reason="stop",
        # Without a word it stopped right behind what a tool has told it.
        last_event="assistant" if said.strip() else "tool_result",
        content=said,
    )
    try:
        reply = await submit_turn(agent=hook.agent, run_code=run.run, body=body)
    except RunPaused:
        return GO  # it waits for a person already, and does nothing meanwhile
    except RunClosed:
        return (await reload_run(hook)).describe_halt()
    turn = json.loads(reply.body)
    if turn["action"] == "auto_continue":
        return Outcome(decision="continue_work", reason=turn["nudge"])
    if turn["action"] == "needs_human":
        return await _ask_person(hook, run, turn["review"]["id"])
    return GO


async def _ask_person(hook: HookEvent, run: SessionRun, review: str) -> Outcome:
    headless = hook.options.headless or run.headless
    patience = None if headless else ATTENDED_SECONDS
    decision_state = await wait_for_ruling(hook, run, review, at_most=patience)
    ruling = decision_state["ruling"]
    if ruling is not None and ruling["action"] == "answer":
        return Outcome(
            decision="continue_work",
            reason=f"{ruling['by']} answers: {ruling['answer']}",
        )
    now = await reload_run(hook)
    return now.describe_halt() if now.over else GO


def _describe_message(hook: HookEvent) -> str:
    return shorten(hook.body.last_assistant_message or "nothing")
