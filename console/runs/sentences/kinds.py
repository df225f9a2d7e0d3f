"""Kinds of entries, by which the timeline of a run is filtered."""

from __future__ import annotations

# The name of each filter, and the types that it shows. What belongs to none is only in "all".
KINDS: dict[str, tuple[str, ...]] = {
    "decisions": (
        *("step.judged", "step.observed", "turn.judged"),
        *("check.opened", "check.judged", "model.asked", "warning.acknowledged"),
    ),
    "calls": (
        *("call.judged", "call.replayed", "call.claimed", "call.expired"),
        *("call.settled", "permission.revoked", "exemption.made", "exemption.revoked"),
    ),
    "reviews": (
        *("review.opened", "review.claimed", "review.released", "review.ruled"),
        *("review.late", "review.approved", "review.amended", "review.assigned"),
        *("review.snoozed", "review.returned"),
        *("review.held", "review.taken_back", "review.unsent"),
        *("allowance.given", "allowance.ended"),
        *("plan.submitted", "plan.approved", "plan.ended"),
        *("review.withdrawn", "review.expired", "review.superseded"),
    ),
    "notes": (
        *("note.added", "review.commented"),
        *("note.written", "note.delivered", "note.read"),
    ),
}
_BY_TYPE = {each: kind for kind, types in KINDS.items() for each in types}
# What stands on the chip of a row; otherwise the part before the dot.
_WORDS = {
    "step.judged": "decision",
    "step.observed": "decision",
    "turn.judged": "decision",
    "check.opened": "gate",
    "check.judged": "gate",
    "review.ruled": "ruling",
    "review.commented": "note",
    "note.added": "note",
    "run.reopened": "ruling",
    "run.aborted": "ruling",
}


def find_kind(entry_type: str) -> str:
    return _BY_TYPE.get(entry_type, "")


def get_word(entry_type: str) -> str:
    return _WORDS.get(entry_type, entry_type.partition(".")[0])
