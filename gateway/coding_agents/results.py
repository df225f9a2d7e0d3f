"""After a tool ran: what came of it, and one step of the run."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from common.errors import Forbidden
from gateway.coding_agents import tool_uses
from gateway.coding_agents.mapping import saves_work, summary
from gateway.coding_agents.replies import Outcome
from gateway.coding_agents.session_events import Governed, Visit
from gateway.coding_agents.sessions import ensure_run
from gateway.coding_agents.steps import step_taken
from gateway.coding_agents.superseded import AT_THE_TERMINAL, take_back
from gateway.models import HookAnswer, HookCall
from gateway.schemas.calls import ResultIn
from gateway.use_cases.claims import call_settle
from guidance.core.canonical import canonical
from ledger.writer.db_threads import run_in_db_thread
from reviews.errors import GrantExpired, GrantSpent, ReviewOpen, RunClosed
from reviews.models import ReviewState

OUTPUT_KEPT = 2_000
ASKED = frozenset({HookAnswer.ASK, HookAnswer.LEFT})


async def after_tool(visit: Visit, *, ok: bool) -> Outcome:
    """PostToolUse and PostToolUseFailure."""
    visit.body.needs("tool_name", "tool_input", "tool_use_id")
    run = await ensure_run(visit)
    if run.over:
        return run.describe_halt()
    use = await run_in_db_thread(partial(tool_uses.find_tool_use, visit, run))
    note = await _settle_call(visit, run, use, ok=ok)
    told = summary(visit.tool, visit.given)
    # The grant has counted the call, and the result its time.
    counted = use is not None and not note
    return await step_taken(
        visit,
        run,
        tool_calls=0 if counted else 1,
        failed_calls=0 if ok else 1,
        checkpoint=ok and saves_work(visit.given),
        duration_ms=0 if counted else _duration(visit),
        signature=f"{visit.tool}:{visit.fingerprint[:16]}",
        summary=f"{told} ({note})" if note else told,
    )


async def _settle_call(
    visit: Visit, run: Governed, use: HookCall | None, *, ok: bool
) -> str:
    """The result is the call's; where it cannot be, the words that the step says."""
    if use is None:
        return "not asked about before it ran"
    review = use.call.review
    if review is not None and review.state == ReviewState.OPEN and use.answer in ASKED:
        came = "the call ran" if ok else "the call failed"
        reason = f"{AT_THE_TERMINAL}: {came}"
        await take_back(visit, run, str(review.code), reason)
        return "let run at the terminal"
    output = await asyncio.to_thread(_output, visit)  # it may be long
    body = ResultIn(ok=ok, output=output, duration_ms=_duration(visit))
    try:
        await call_settle(
            agent=visit.agent,
            run_code=run.run,
            call_code=str(use.call.code),
            body=body,
        )
    except (GrantSpent, RunClosed):
        return ""  # told before, or the run ended meanwhile: the step will say so
    except (Forbidden, ReviewOpen, GrantExpired):
        return "ran although it was not let run"
    return ""


def _duration(visit: Visit) -> int:
    return round(visit.body.duration_ms or 0)


def _output(visit: Visit) -> Any:
    """As much as a person would read: the beginning and the end."""
    said = visit.body.tool_response
    if visit.body.error is not None:
        said = visit.body.error
    if isinstance(said, dict):
        texts = [said[name] for name in ("stdout", "stderr") if said.get(name)]
        if texts and all(isinstance(text, str) for text in texts):
            said = "\n".join(texts)
    return _cut(said if isinstance(said, str) else _plain(said))


def _plain(said: Any) -> Any:
    """Data is kept where it is small, and else as the beginning of its text."""
    if said is None:
        return None
    text = canonical(said)
    return said if len(text) <= OUTPUT_KEPT else text


def _cut(said: Any) -> Any:
    if not isinstance(said, str) or len(said) <= OUTPUT_KEPT:
        return said
    half = OUTPUT_KEPT // 2
    gap = len(said) - 2 * half
    return f"{said[:half]}\n… {gap:,} characters left out …\n{said[-half:]}"
