"""Holding a hook until a person has ruled, or until the host must have its answer."""

from __future__ import annotations

import json
from typing import Any

from gateway.coding_agents.session_events import HookEvent, SessionRun
from gateway.coding_agents.wording import quote_agent_note, quote_note
from gateway.use_cases.decision_wait import await_decision

DecisionState = dict[str, Any]
# The rulings that let an agent go on; why it may not is said where it is kept from it.
GOING_ON = frozenset({"approve", "amend", "answer", "retry", "skip"})


async def wait_for_ruling(
    hook: HookEvent, run: SessionRun, review: str, *, at_most: float | None = None
) -> DecisionState:
    """The state of the review once it is ruled on or the time is over."""
    wait = hook.left if at_most is None else min(hook.left, at_most)
    reply = await await_decision(
        principal=hook.agent,
        run_code=run.run,
        review_code=review,
        wait=wait,
        carries_notes=hook.carries_notes,
    )
    decision_state: DecisionState = json.loads(reply.body)
    ruling = decision_state["ruling"]
    if ruling is not None and ruling["action"] in GOING_ON and ruling["note"]:
        hook.notes.append(quote_note(ruling))
    add_agent_notes(hook, decision_state)
    return decision_state


def add_agent_notes(hook: HookEvent, answer: dict[str, Any]) -> None:
    """What people told the agent, as an answer of ours carries it."""
    hook.notes.extend(map(quote_agent_note, answer["notes"]))


def allows_continuing(decision_state: DecisionState) -> bool:
    """Nothing here keeps the run from going on; another review still may."""
    ended = decision_state["state"] != "open"
    return bool(ended and decision_state["run_status"] in {"running", "paused"})
