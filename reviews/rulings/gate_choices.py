"""What a person chooses when a gate check ran out of attempts: retry, skip or abort."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from common.errors import Invalid
from guidance.core.checks import CheckState, NotOffered, apply_ruling
from reviews.checks import load_check_state, store_state
from reviews.models import RULINGS, GateCheck, Kind, Review


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The check that a ruling decides on, and what becomes of it."""

    check: GateCheck
    state: CheckState
    action: str

    def to_json(self) -> dict[str, Any]:
        return {
            "check": str(self.check.code),
            "check_state": self.state.to_json(),
            # Skipping lets the run go on; it makes nothing pass.
            "gates_passed": False,
        }

    def store(self, at: datetime) -> None:
        store_state(self.check, self.state, review=None, at=at)


def list_choices(review: Review) -> tuple[str, ...]:
    """What a person may choose on this review while it is open."""
    if review.kind != Kind.EXHAUSTED:
        return RULINGS[review.kind]
    return tuple(json.loads(review.content)["offers"])


def build_choice(review: Review, *, action: str, note: str) -> Choice | None:
    """What this ruling makes of its check; None where it is about something else."""
    if review.kind != Kind.EXHAUSTED or action not in {"retry", "skip", "abort"}:
        return None
    # A check that ran out of attempts again belongs to a newer review.
    check: GateCheck | None = getattr(review, "current_check", None)
    if check is None or check.status != "exhausted":
        # Somebody was faster: the writer finds the review closed, and says by whom.
        return None
    if action == "skip" and not note.strip():
        message = "say why the gate may be skipped"
        raise Invalid(
            f"note: {message}.", errors=[{"loc": ["note"], "message": message}]
        )
    try:
        state = apply_ruling(load_check_state(check), action, said=note, guidance=note)
    except NotOffered as refused:
        raise Invalid(
            f"action: {refused}.",
            errors=[{"loc": ["action"], "message": str(refused)}],
        ) from None
    return Choice(check=check, state=state, action=action)
