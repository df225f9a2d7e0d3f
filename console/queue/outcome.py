"""How a review ended, in a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from accounts.models import User
from console.format import format_ago, format_iso
from console.people import build_person
from reviews.models import Review, ReviewState
from safetext import make_visible

# Action: icon, tone, the chip's word, what somebody did.
_RULED = {
    "approve": ("check", "go", "Approved", "approved this"),
    "amend": ("check", "go", "Approved", "approved this with changes"),
    "abort": ("x", "stop", "Aborted", "aborted the run"),
    "deny": ("x", "stop", "Denied", "denied this"),
    "answer": ("note", "go", "Answered", "answered this"),
    "retry": ("retry", "go", "Retried", "asked for a retry"),
    "skip": ("skip", "pause", "Skipped", "skipped the gate, which is not passed"),
}
_EXPIRED = {
    "abort": "the run was aborted",
    "stop": "the run was stopped",
    "deny": "it was denied",
}


def describe_ruling(action: str) -> tuple[str, str, str]:
    """Its icon and tone, and what somebody did."""
    icon, tone, _, did = _RULED[action]
    return icon, tone, did


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A sentence, and the words that went with it. `over` says whose claim was taken
    over."""

    icon: str
    tone: str
    word: str
    sentence: str
    text: str
    at: str
    ago: str
    over: str = ""


def build_outcome(review: Review, *, viewer: User, at: datetime) -> Outcome | None:
    """Needs `ruling__by` to be loaded; None while the review is open."""
    if review.closed_at is None:
        return None
    text = over = ""
    if review.state == ReviewState.RULED:
        ruling = review.ruling
        icon, tone, word, did = _RULED[ruling.action]
        sentence = f"{_get_name(ruling.by, viewer)} {did}"
        text = make_visible(ruling.answer or ruling.note)
        if review.assignee and review.assignee_id != ruling.by_id:
            over = f". {_get_name(review.assignee, viewer)} had claimed it."
    elif review.state == ReviewState.EXPIRED:
        icon, tone, word = "clock", "stop", "Expired"
        sentence = f"Nobody answered in time; {_EXPIRED[review.on_expiry]}"
    elif review.state == ReviewState.WITHDRAWN:
        icon, tone, word = "x", "mute", "Withdrawn"
        sentence = "The agent withdrew this"
    else:
        icon, tone, word = "x", "mute", "Closed"
        sentence = "The run ended before anybody ruled"
    return Outcome(
        icon=icon,
        tone=tone,
        word=word,
        sentence=sentence,
        text=text,
        at=format_iso(review.closed_at),
        ago=format_ago((at - review.closed_at).total_seconds()),
        over=over,
    )


def _get_name(user: User, viewer: User) -> str:
    return "You" if user.pk == viewer.pk else build_person(user).name
