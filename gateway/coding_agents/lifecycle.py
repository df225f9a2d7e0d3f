"""A session begins, is given work, and ends."""

from __future__ import annotations

from functools import partial

from gateway.coding_agents import wording
from gateway.coding_agents.replies import GO, Outcome
from gateway.coding_agents.session_events import Visit
from gateway.coding_agents.sessions import (
    ensure_run,
    find_run,
    introduce,
    mark_headless,
)
from gateway.coding_agents.steps import step_taken
from gateway.coding_agents.superseded import (
    AT_THE_TERMINAL,
    WITHOUT_IT,
    clear_calls,
    clear_questions,
)
from gateway.models import HookAnswer, HookSession
from gateway.schemas.runs import FinishIn
from gateway.use_cases.runs import FinishRun
from ledger.writer import writer
from ledger.writer.db_threads import run_in_db_thread
from reviews.errors import ReviewOpen, RunClosed


async def session_began(visit: Visit) -> Outcome:
    """SessionStart. The run begins with the first prompt, which is its task."""
    await introduce(visit)
    run = await find_run(visit)
    if run is not None and run.status == "stopped":
        return run.describe_halt()
    return Outcome(context=wording.GOVERNED)


async def prompt_given(visit: Visit) -> Outcome:
    """UserPromptSubmit. Somebody at the terminal has spoken."""
    run = await ensure_run(visit, prompted=True)
    if run.over:
        return run.describe_halt()
    if visit.body.source == "sdk" and not run.headless:
        await mark_headless(run)
    gone = (HookAnswer.ASK, HookAnswer.LEFT)
    await clear_calls(visit, run, *gone, reason=AT_THE_TERMINAL)
    await clear_questions(visit, run)
    return GO


async def session_ended(visit: Visit) -> Outcome:
    """SessionEnd. What waits for a person goes on waiting; the rest is done."""
    run = await find_run(visit)
    if run is None or run.over:
        return GO
    gone = (HookAnswer.ASK, HookAnswer.LEFT)
    await clear_calls(visit, run, *gone, reason=WITHOUT_IT)
    owed = await run_in_db_thread(partial(HookSession.objects.get, pk=run.session_id))
    if owed.owed_tokens or visit.body.checkrail.tokens:
        await step_taken(visit, run, tool_calls=0, summary="The rest of the session")
    why = f": {visit.body.reason}" if visit.body.reason else ""
    command = FinishRun(
        agent=visit.agent,
        run_code=run.run,
        body=FinishIn(outcome="completed", summary=f"The session ended{why}"),
    )
    try:
        await writer().perform(command)
    except (ReviewOpen, RunClosed):
        pass  # a parked call is resumed in this run; what is over stays as it is
    return GO
