"""What came of a ruling: of the call it allowed, and of its run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_

from django.db.models import Q

from ledger.models import RunStatus
from reviews.models import SERVER_KINDS, Grant, GrantState, RulingFact

# How a run stands, after a ruling that let it go on.
_RUNS = {
    "running": "the run goes on",
    "paused": "the run waits for a person again",
    "stopped": "stopped later",
    "completed": "completed",
    "failed": "failed at the end",
    "aborted": "aborted later",
    "abandoned": "abandoned later",
}
_CALLS = {
    "waiting": "not run yet",
    "started": "started, no result yet",
    "succeeded": "ran",
    "failed": "ran and failed",
    "expired": "never run",
    "revoked": "never run",
}
_UNUSED = ("expired", "revoked")


@dataclass(frozen=True, slots=True, kw_only=True)
class RulingOutcome:
    """`call` is empty where the ruling allowed none. `tone` is go, stop or mute."""

    call: str
    run_status: str
    accepted: bool | None
    regretted: bool
    text: str
    tone: str


# What the lists call each outcome, and which rulings have it. A ruling that ended its run
# has none: nothing was let go on.
_CALL_FAILED = Q(
    ruling__review__call__ok=False,
    ruling__review__call__grant__state=GrantState.SPENT,
)
_NOT_ACCEPTED = Q(run__outcome__accepted=False)
OUTCOMES: dict[str, Q] = {
    "call-failed": _CALL_FAILED,
    "run-failed": Q(run__status=RunStatus.FAILED),
    "not-accepted": _NOT_ACCEPTED,
    "aborted": Q(run__status=RunStatus.ABORTED),
    "running": Q(
        run__status__in=(RunStatus.RUNNING, RunStatus.PAUSED, RunStatus.STOPPED)
    ),
    "good": Q(run__status=RunStatus.COMPLETED) & ~_CALL_FAILED & ~_NOT_ACCEPTED,
}
# Those for which an approval is regretted.
BAD = ("call-failed", "run-failed", "not-accepted", "aborted")


def has_outcome(names: Iterable[str]) -> Q:
    """Any of them."""
    wanted = reduce(or_, (OUTCOMES[name] for name in names))
    return ~Q(action="abort") & wanted


def build_outcome(fact: RulingFact, at: datetime) -> RulingOutcome:
    """Needs the call, its grant, the run and its outcome to be loaded with the fact."""
    call = _get_call_state(fact, at)
    judged = getattr(fact.run, "outcome", None)
    accepted = judged.accepted if judged else None
    words, tone = _describe(fact, call, accepted)
    return RulingOutcome(
        call=call,
        run_status=fact.run.status,
        accepted=accepted,
        regretted=fact.regretted,
        text=words,
        tone=tone,
    )


def _get_call_state(fact: RulingFact, at: datetime) -> str:
    asked = getattr(fact.ruling.review, "call", None)
    grant: Grant | None = getattr(asked, "grant", None)
    if asked is None or grant is None:
        return ""
    if grant.state == GrantState.SPENT:
        return {None: "started", True: "succeeded", False: "failed"}[asked.ok]
    if grant.state == GrantState.ISSUED:
        return "waiting" if at < grant.expires_at else "expired"
    return str(grant.state)


def _describe(fact: RulingFact, call: str, accepted: bool | None) -> tuple[str, str]:
    if fact.kind in SERVER_KINDS:
        approved = fact.action == "approve"
        return ("carried out", "go") if approved else ("not done", "mute")
    if fact.action == "abort":
        return "run aborted", "mute"
    run = _RUNS[fact.run.status]
    if fact.run.status == "completed" and accepted is not None:
        run += ", accepted" if accepted else ", not accepted"
    words = f"{_CALLS[call]}, {run}" if call else run
    if call == "waiting":
        words = _CALLS[call]
    return words, _choose_tone(fact, call, accepted)


def _choose_tone(fact: RulingFact, call: str, accepted: bool | None) -> str:
    """Red is for a bad end of the run, not for the person who ruled."""
    status = fact.run.status
    if status in ("failed", "aborted", "stopped") or accepted is False:
        return "stop"
    if call == "failed":
        return "stop"
    ran = call not in _UNUSED and call != "waiting"
    return "go" if status == "completed" and ran else "mute"
