"""What a person decided, as an agent is told it: only a yes is a yes."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from typing import Any

from checkrail.answers import CallStanding, Ruling, Standing
from checkrail.errors import CheckrailError
from checkrail.flows.rulings import SHORTEST_POLL
from checkrail.problems import GrantExpired, GrantSpent
from checkrail.runs.async_run import AsyncRun

# Between two of these the client hears that somebody is still waiting.
SLICE_SECONDS = 10

CALL, REVIEW = "call-", "review-"

Answer = dict[str, Any]
Progress = Callable[[float], Awaitable[None]]

_NOT_DECIDED = {
    "none": "There is nothing to wait for.",
    "open": "Nobody has decided yet. This is NOT an approval: do not do it. Call "
    "wait_for_decision again with this id.",
    "expired": "Nobody decided in time. It is NOT approved, and the run has ended: stop "
    "working, and tell the user.",
    "superseded": "The run ended before anybody decided. It is NOT approved: stop "
    "working, and tell the user.",
    "withdrawn": "The request was withdrawn. It is NOT approved.",
}
_DECIDED = {
    "approve": "Approved: go on.",
    "answer": "A person answered: go on with what they say.",
    "retry": "A person wants you to try again: read the note, then go on.",
    "skip": "A person skipped the check: go on without it.",
    "deny": "Denied: do not do it, in no other form either. Go on without it.",
    "abort": "A person ended the run: stop working, and tell the user.",
}


def build_call_id(code: str) -> str:
    return f"{CALL}{code}"


def build_review_id(code: str) -> str:
    return f"{REVIEW}{code}"


async def get_decision(
    run: AsyncRun, id: str, *, seconds: float = 0, progress: Progress | None = None
) -> Answer:
    answer = await _get_answer(run, id, seconds, progress)
    return {**answer, "notes": await list_new_notes(run)}


async def list_new_notes(run: AsyncRun) -> list[Answer]:
    """What people told the agent meanwhile: each answer of a tool tells what is new."""
    return [
        {"by": note.by, "text": note.text, "at": note.at, "tags": list(note.tags)}
        for note in await run.take_notes()
    ]


async def _get_answer(
    run: AsyncRun, id: str, seconds: float, progress: Progress | None
) -> Answer:
    if id.startswith(CALL):
        return await _get_call_decision(run, id, seconds, progress)
    if id.startswith(REVIEW):
        stands = await _wait(run, id.removeprefix(REVIEW), seconds, progress)
        return _build_review_answer(id, stands)
    raise CheckrailError(
        f"{id!r} is no id of a decision. Give the id that report_step, check_tool_call "
        "or request_approval answered with."
    )


async def _get_call_decision(
    run: AsyncRun, id: str, seconds: float, progress: Progress | None
) -> Answer:
    code = id.removeprefix(CALL)
    call = await run.call_standing(code)
    if call.review is None:
        return _build_gate_answer(id, call)
    stands = await _wait(run, call.review, seconds, progress)
    answer = _build_review_answer(id, stands)
    if stands.ruling is None or stands.ruling.action not in ("approve", "amend"):
        return answer
    # What a person has changed is known, and granted, only after the ruling.
    call = await run.call_standing(code)
    try:
        claim = await run.claim_call(code, call.digest)
    except GrantSpent:
        return {
            **answer,
            "approved": False,
            "instruction": "It was approved, and an earlier answer told you so: run it "
            "once, and not again. If that answer was lost, ask with check_tool_call.",
        }
    except GrantExpired:
        return {
            **answer,
            "approved": False,
            "instruction": "It was approved, but too long ago: do not run it. Ask again "
            "with check_tool_call.",
        }
    return {
        **answer,
        "approved": True,
        "arguments": claim.call["arguments"],
        "instruction": "Run it now, once, with exactly these arguments"
        + (
            ", which the person has changed."
            if stands.ruling.action == "amend"
            else "."
        ),
    }


def _build_gate_answer(id: str, call: CallStanding) -> Answer:
    """The gates decided alone: there is nobody to wait for."""
    refused = call.state == "refused"
    return {
        **_build_empty_answer(id, "closed"),
        "instruction": "Nobody is asked about this call: "
        + (
            "it was blocked, and must not run."
            if refused
            else "it was allowed at once, and check_tool_call told you so."
        ),
    }


async def _wait(
    run: AsyncRun, review: str, seconds: float, progress: Progress | None
) -> Standing:
    began = time.monotonic()
    waited = 0.0
    while True:
        poll = min(SLICE_SECONDS, math.ceil(max(0.0, seconds - waited)))
        stands = await run.standing(review, wait=poll)
        before, waited = waited, time.monotonic() - began
        if stands.state != "open" or waited >= seconds:
            return stands
        if waited - before < SHORTEST_POLL:
            await asyncio.sleep(SHORTEST_POLL)
        if progress is not None:
            await progress(waited)


def _build_review_answer(id: str, stands: Standing) -> Answer:
    ruling = stands.ruling
    if ruling is None:
        return {
            **_build_empty_answer(id, stands.state),
            "instruction": _NOT_DECIDED.get(stands.state, "It is NOT approved."),
        }
    return {
        **_build_empty_answer(id, stands.state),
        "approved": ruling.action == "approve",
        "action": ruling.action,
        "answer": ruling.answer,
        "note": ruling.note,
        "by": ruling.by,
        "instruction": _get_instruction(ruling),
    }


def _build_empty_answer(id: str, state: str) -> Answer:
    return {
        "id": id,
        "state": state,
        "approved": False,
        "action": None,
        "arguments": None,
        "answer": None,
        "note": "",
        "by": None,
    }


def _get_instruction(ruling: Ruling) -> str:
    return _DECIDED.get(ruling.action, "It is NOT approved: this answer is not known.")
