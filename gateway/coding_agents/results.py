"""After a tool ran: what came of it, and one step of the run."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Any

from common.errors import Forbidden
from common.long_work import run_long
from gateway.coding_agents import tool_uses
from gateway.coding_agents.mapping import build_summary, is_commit
from gateway.coding_agents.replies import Outcome
from gateway.coding_agents.session_events import HookEvent, SessionRun
from gateway.coding_agents.sessions import ensure_run
from gateway.coding_agents.steps import report_step
from gateway.coding_agents.superseded import AT_THE_TERMINAL, withdraw_review
from gateway.coding_agents.wording import quote_note
from gateway.models import HookAnswer, HookCall
from gateway.schemas.calls import ResultIn
from gateway.schemas.runs import ViolationIn
from gateway.use_cases.claims import submit_result
from gateway.use_cases.outcomes.seen import RAN_ALTHOUGH_REFUSED
from gateway.use_cases.outcomes.violations import RecordViolation
from guidance.core.canonical import to_canonical_json
from ledger.writer import get_writer
from ledger.writer.db_threads import run_in_db_thread
from reviews.errors import GrantExpired, GrantSpent, ReviewOpen, RunClosed
from reviews.models import ReviewState
from reviews.serializers import build_ruling_answer

OUTPUT_KEPT = 2_000
NOT_LET_RUN = "ran although it was not let run"
ASKED = frozenset({HookAnswer.ASK, HookAnswer.LEFT})


async def handle_post_tool_use(hook: HookEvent, *, ok: bool) -> Outcome:
    """PostToolUse and PostToolUseFailure."""
    hook.body.needs("tool_name", "tool_input", "tool_use_id")
    run = await ensure_run(hook)
    if run.over:
        return run.describe_halt()
    use = await run_in_db_thread(partial(_find_use, hook, run))
    note = await _settle_call(hook, run, use, ok=ok)
    told = build_summary(hook.tool, hook.given)
    # The grant has counted the call, and the result its time.
    counted = use is not None and not note
    return await report_step(
        hook,
        run,
        tool_calls=0 if counted else 1,
        failed_calls=0 if ok else 1,
        checkpoint=ok and is_commit(hook.given),
        duration_ms=0 if counted else _get_duration(hook),
        signature=f"{hook.tool}:{hook.fingerprint[:16]}",
        summary=f"{told} ({note})" if note else told,
    )


def _find_use(hook: HookEvent, run: SessionRun) -> HookCall | None:
    use = tool_uses.find_tool_use(hook, run)
    if use is not None:
        return use
    use = tool_uses.find_permitted_use(hook, run)
    ruling = build_ruling_answer(use.call.review) if use is not None else None
    if ruling is not None and ruling["action"] == "approve" and ruling["note"]:
        hook.notes.append(quote_note(ruling))
    return use


async def _settle_call(
    hook: HookEvent, run: SessionRun, use: HookCall | None, *, ok: bool
) -> str:
    """The result is the call's; where it cannot be, the words that the step says."""
    if use is None:
        return "not asked about before it ran"
    review = use.call.review
    if review is not None and review.state == ReviewState.OPEN and use.answer in ASKED:
        came = "the call ran" if ok else "the call failed"
        reason = f"{AT_THE_TERMINAL}: {came}"
        await withdraw_review(hook, run, str(review.code), reason)
        return "let run at the terminal"
    output = await run_long(_build_output, hook)  # it may be long
    body = ResultIn(ok=ok, output=output, duration_ms=_get_duration(hook))
    try:
        await submit_result(
            agent=hook.agent,
            run_code=run.run,
            call_code=str(use.call.code),
            body=body,
        )
    except (GrantSpent, RunClosed):
        return ""  # told before, or the run ended meanwhile: the step will say so
    except (Forbidden, ReviewOpen):
        await _record_refused_call(hook, run)
        return NOT_LET_RUN
    except GrantExpired:
        return NOT_LET_RUN
    return ""


async def _record_refused_call(hook: HookEvent, run: SessionRun) -> None:
    """It ran all the same: the run is judged by it at its end."""
    told = build_summary(hook.tool, hook.given)
    body = ViolationIn(
        rule=RAN_ALTHOUGH_REFUSED,
        severity="critical",
        description=f"{told} ({NOT_LET_RUN})",
    )
    request = RecordViolation(agent=hook.agent, run_code=run.run, body=body)
    with suppress(RunClosed):  # then its end was the last entry
        await get_writer().perform(request)


def _get_duration(hook: HookEvent) -> int:
    return round(hook.body.duration_ms or 0)


def _build_output(hook: HookEvent) -> Any:
    """As much as a person would read: the beginning and the end."""
    said = hook.body.tool_response
    if hook.body.error is not None:
        said = hook.body.error
    if isinstance(said, dict):
        texts = [said[name] for name in ("stdout", "stderr") if said.get(name)]
        if texts and all(isinstance(text, str) for text in texts):
            said = "\n".join(texts)
    return _cut(said if isinstance(said, str) else _shorten_output(said))


def _shorten_output(said: Any) -> Any:
    """Data is kept where it is small, and else as the beginning of its text."""
    if said is None:
        return None
    text = to_canonical_json(said)
    return said if len(text) <= OUTPUT_KEPT else text


def _cut(said: Any) -> Any:
    if not isinstance(said, str) or len(said) <= OUTPUT_KEPT:
        return said
    half = OUTPUT_KEPT // 2
    gap = len(said) - 2 * half
    return f"{said[:half]}\n… {gap:,} characters left out …\n{said[-half:]}"
