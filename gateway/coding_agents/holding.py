"""Holding a hook until a person has ruled, or until the host must have its answer."""

from __future__ import annotations

import json
from typing import Any

from gateway.coding_agents.session_events import Governed, Visit
from gateway.coding_agents.wording import quote_note
from gateway.use_cases.decision_wait import decision_wait

Standing = dict[str, Any]
# The rulings that let an agent go on; why it may not is said where it is kept from it.
GOING_ON = frozenset({"approve", "amend", "answer", "retry", "skip"})


async def wait_for_ruling(
    visit: Visit, run: Governed, review: str, *, at_most: float | None = None
) -> Standing:
    """Where the review stands once it is ruled on or the time is over."""
    wait = visit.left if at_most is None else min(visit.left, at_most)
    reply = await decision_wait(
        principal=visit.agent, run_code=run.run, review_code=review, wait=wait
    )
    standing: Standing = json.loads(reply.body)
    ruling = standing["ruling"]
    if ruling is not None and ruling["action"] in GOING_ON and ruling["note"]:
        visit.notes.append(quote_note(ruling))
    return standing


def lets_go_on(standing: Standing) -> bool:
    """Nothing here keeps the run from going on; another review still may."""
    ended = standing["state"] != "open"
    return bool(ended and standing["run_status"] in {"running", "paused"})
