"""Whether a ruling has reached its agent, and what came of it: only what is known."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from console.format import format_span
from ledger.models import Entry
from reviews.models import SERVER_KINDS, Grant, GrantState, Review, ReviewState
from reviews.queue.agent_waits import SEEN_WITHIN

# An agent that says nothing for so long after its ruling is worth a look.
SILENT_AFTER = timedelta(minutes=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """`is_final`: nothing more is to come, and nobody need ask again."""

    text: str
    icon: str
    tone: str = "mute"
    is_final: bool = False


def build_delivery(review: Review, at: datetime) -> Delivery | None:
    """None for what nobody ruled on, and where no agent waits by nature."""
    if review.state != ReviewState.RULED or review.kind in SERVER_KINDS:
        return None
    ruling = review.ruling
    grant: Grant | None = getattr(getattr(review, "call", None), "grant", None)
    if ruling.action == "abort":
        return Delivery(text="The run has ended.", icon="stop", is_final=True)
    if grant is not None and grant.state != GrantState.ISSUED:
        return _describe_grant(review, grant)
    if grant is not None and at >= grant.expires_at:
        return Delivery(
            text="Never claimed: the agent has to ask again.",
            icon="clock",
            tone="pause",
            is_final=True,
        )
    if _is_active_since(review, ruling.at):
        return Delivery(
            text="Delivered: the agent went on.", icon="check", tone="go", is_final=True
        )
    return _describe_silence(review, ruling.at, at, claims=grant is not None)


def _describe_grant(review: Review, grant: Grant) -> Delivery:
    if grant.state != GrantState.SPENT:
        return Delivery(text="Never run.", icon="clock", tone="pause", is_final=True)
    if review.call.ok is None:
        return Delivery(text="Claimed by the agent. No result yet.", icon="clock")
    if review.call.ok:
        return Delivery(
            text="Claimed, and it ran.", icon="check", tone="go", is_final=True
        )
    return Delivery(text="Claimed; it failed.", icon="x", tone="stop", is_final=True)


def _is_active_since(review: Review, ruled_at: datetime) -> bool:
    """Whether its agent wrote anything into the run's chain after the ruling."""
    later = Entry.objects.filter(run_id=review.run_id, at__gt=ruled_at)
    return later.filter(actor__startswith="agent:").exists()


def _describe_silence(
    review: Review, ruled_at: datetime, at: datetime, *, claims: bool
) -> Delivery:
    wait = getattr(review, "agent_wait", None)
    waited = wait is not None and ruled_at - wait.seen_at < SEEN_WITHIN
    silent = at - ruled_at
    if silent >= SILENT_AFTER:
        minutes = format_span(int(silent.total_seconds() // 60) * 60_000)
        return Delivery(
            text=f"Nothing heard from the agent for {minutes}.",
            icon="alert",
            tone="pause",
        )
    if waited:
        more = "Not claimed yet." if claims else "It has not gone on yet."
        return Delivery(text=f"Delivered: the agent was waiting. {more}", icon="check")
    return Delivery(
        text="Kept for the agent, which does not wait at the moment.", icon="clock"
    )
