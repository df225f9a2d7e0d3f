"""When the agent would stop: is it done, half-way, or does it ask a person?"""

from __future__ import annotations

import asyncio
import json

from gateway.coding_agents.holding import wait_for_ruling
from gateway.coding_agents.mapping import shorten
from gateway.coding_agents.replies import GO, Outcome
from gateway.coding_agents.session_events import Governed, Visit
from gateway.coding_agents.sessions import find_run, reload_run
from gateway.coding_agents.steps import step_taken
from gateway.coding_agents.superseded import WITHOUT_IT, clear_calls
from gateway.models import HookAnswer
from gateway.schemas.checks import TurnIn
from gateway.use_cases.turns import turn_submit
from reviews.errors import RunClosed, RunPaused

# Whoever sits at the terminal can answer there: they are not kept from it for long.
ATTENDED_SECONDS = 60
CONTENT_READ = 50_000


async def would_stop(visit: Visit) -> Outcome:
    """Stop and SubagentStop."""
    run = await find_run(visit)
    if run is None:
        return GO
    if run.over:
        return run.describe_halt()
    if visit.event == "Stop":
        gone = (HookAnswer.ASK, HookAnswer.LEFT, HookAnswer.DEFER)
        await clear_calls(visit, run, *gone, reason=WITHOUT_IT)
    if visit.body.checkrail.tokens:
        outcome = await step_taken(
            visit, run, tool_calls=0, summary=f"Answered: {_describe_message(visit)}"
        )
        if outcome.verb != "go":
            return outcome
    if visit.body.background_tasks:
        return GO  # something is still at work and will wake the agent again
    return await _judge(visit, run)


async def _judge(visit: Visit, run: Governed) -> Outcome:
    said = (visit.body.last_assistant_message or "")[-CONTENT_READ:]
    body = await asyncio.to_thread(
        TurnIn,
        finish_reason="stop",
        # Without a word it stopped right behind what a tool has told it.
        last_event="assistant" if said.strip() else "tool_result",
        content=said,
    )
    try:
        reply = await turn_submit(agent=visit.agent, run_code=run.run, body=body)
    except RunPaused:
        return GO  # it waits for a person already, and does nothing meanwhile
    except RunClosed:
        return (await reload_run(visit)).describe_halt()
    turn = json.loads(reply.body)
    if turn["action"] == "auto_continue":
        return Outcome(verb="work", reason=turn["nudge"])
    if turn["action"] == "needs_human":
        return await _ask_person(visit, run, turn["review"]["id"])
    return GO


async def _ask_person(visit: Visit, run: Governed, review: str) -> Outcome:
    headless = visit.options.headless or run.headless
    patience = None if headless else ATTENDED_SECONDS
    standing = await wait_for_ruling(visit, run, review, at_most=patience)
    ruling = standing["ruling"]
    if ruling is not None and ruling["action"] == "answer":
        return Outcome(
            verb="work", reason=f"{ruling['by']} answers: {ruling['answer']}"
        )
    now = await reload_run(visit)
    return now.describe_halt() if now.over else GO


def _describe_message(visit: Visit) -> str:
    return shorten(visit.body.last_assistant_message or "nothing")
