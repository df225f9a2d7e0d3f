"""A session begins, is given work, and ends."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from gateway.coding_agents import wording
from gateway.coding_agents.idling import mark_idle
from gateway.coding_agents.replies import GO, Outcome
from gateway.coding_agents.session_events import HookEvent
from gateway.coding_agents.sessions import (
    ensure_run,
    find_run,
    mark_headless,
    register_session,
)
from gateway.coding_agents.steps import report_step
from gateway.coding_agents.superseded import (
    AT_THE_TERMINAL,
    WITHOUT_IT,
    clear_calls,
    clear_questions,
)
from gateway.models import HookAnswer, HookSession
from gateway.schemas.runs import FinishIn
from gateway.use_cases.outcomes.finish import FinishRun
from ledger.writer import get_writer
from ledger.writer.db_threads import run_in_db_thread
from ledger.writer.halts import Halted
from reviews.errors import ReviewOpen, RunClosed


async def handle_session_start(hook: HookEvent) -> Outcome:
    """SessionStart. The run begins with the first prompt, which is its task."""
    await register_session(hook)
    run = await find_run(hook)
    if run is not None and run.status == "stopped":
        return run.describe_halt()
    return Outcome(context=wording.GOVERNED)


async def handle_user_prompt(hook: HookEvent) -> Outcome:
    """UserPromptSubmit. Somebody at the terminal has spoken."""
    run = await ensure_run(hook, prompted=True)
    if run.over:
        return run.describe_halt()
    await mark_idle(hook, idle=False)
    if hook.body.source == "sdk" and not run.headless:
        await mark_headless(run)
    gone = (HookAnswer.ASK, HookAnswer.LEFT)
    await clear_calls(hook, run, *gone, reason=AT_THE_TERMINAL)
    await clear_questions(hook, run)
    return GO


async def handle_session_end(hook: HookEvent) -> Outcome:
    """SessionEnd. What waits for a person goes on waiting; the rest is done."""
    run = await find_run(hook)
    if run is None or run.over:
        return GO
    gone = (HookAnswer.ASK, HookAnswer.LEFT)
    await clear_calls(hook, run, *gone, reason=WITHOUT_IT)
    owed = await run_in_db_thread(partial(HookSession.objects.get, pk=run.session_id))
    if owed.owed_tokens or hook.body.checkrail.tokens:
        with suppress(
            Halted
        ):  # what it used is kept, and the session ends all the same
            await report_step(
                hook, run, tool_calls=0, summary="The rest of the session"
            )
    why = f": {hook.body.reason}" if hook.body.reason else ""
    change_request = FinishRun(
        agent=hook.agent,
        run_code=run.run,
        body=FinishIn(outcome="completed", summary=f"The session ended{why}"),
    )
    try:
        await get_writer().perform(change_request)
    except (ReviewOpen, RunClosed):
        pass  # a parked call is resumed in this run; what is over stays as it is
    return GO
