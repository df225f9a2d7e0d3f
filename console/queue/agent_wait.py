"""Whether an agent waits for a review, as its detail says it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from console.format import format_span
from reviews.models import Review
from reviews.queue.agent_waits import Waiting, get_waiting


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownWait:
    """`text` is short, for a narrow column; `title` says what it means."""

    text: str
    tone: str = ""
    title: str = ""


def build_wait(review: Review, at: datetime) -> ShownWait | None:
    """None where nobody waits by nature, or where it is too early to tell."""
    waiting = get_waiting(review, at)
    if waiting is None:
        return None
    if waiting.now:
        return ShownWait(text="Is waiting")
    return ShownWait(
        text=_describe_absence(waiting),
        tone="pause",
        title=(
            "No agent waits for this now. Your ruling is kept for when it asks again."
        ),
    )


def _describe_absence(waiting: Waiting) -> str:
    if waiting.last_at is None:
        return "Has not waited yet"
    absent = format_span(int((waiting.at - waiting.last_at).total_seconds()) * 1000)
    return f"Left {absent} ago"
