"""What a step is answered: the decision, from what its entry says alone.

The first answer is made of the texts that were written for the entry
(`gateway.use_cases.step_payload`), later ones of the entry as it is stored: byte for byte
the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from common.responses import to_json
from gateway.use_cases.review_links import build_review_reference
from guidance.core.jcs import to_jcs
from reviews.agent_notes.selectors import Note

# In the order people read them; the stored text is sorted.
VERDICT_FIELDS = (
    "decision",
    "checkpoint_due",
    "delay_ms",
    "findings",
    "metrics",
    "recommended_action",
)


def build_decision_answer(
    *,
    run: str,
    project_slug: str,
    payload: dict[str, Any],
    receipt: dict[str, Any],
    notes: Sequence[Note] = (),
) -> dict[str, Any]:
    """The decision object, from the stored entries alone: the same for ever."""
    return {
        "run": run,
        "step": payload["report"]["number"],
        **{name: payload["verdict"][name] for name in VERDICT_FIELDS},
        "review": build_review_reference(payload["review"], project_slug=project_slug),
        "policy": payload["policy"],
        "notes": [*notes],
        "receipt": receipt,
    }


def write_decision_answer(**facts: Any) -> str:
    """The decision object of an entry as it is stored, written as it was first answered:
    what the entry says as it says it, by RFC 8785."""
    answer = build_decision_answer(**facts)
    own = {*VERDICT_FIELDS, "policy"}
    texts = [
        f'"{name}":{to_jcs(value) if name in own else to_json(value)}'
        for name, value in answer.items()
    ]
    return "{" + ",".join(texts) + "}"
