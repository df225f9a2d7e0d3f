"""The state of a check, and how verdicts and rulings change it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from guidance.core.checks.combined_gates import HINT_LIMIT, CombinedGates
from guidance.core.checks.definitions import MODES
from guidance.core.checks.evidence import Evidence, list_unproven
from guidance.core.checks.verdicts import RATIONALE_LIMIT, Verdict

MAX_RESETS = 3
STATUSES = ("open", "passed", "warned", "logged", "exhausted", "skipped", "aborted")
# What a person may choose once the attempts are used up, and what becomes of the check.
_RULINGS = {"retry": "open", "skip": "skipped", "abort": "aborted"}
# What a failure means in the modes that let the work go on.
_MILD = {"advisory": "warned", "informational": "logged"}


class NotOffered(ValueError):
    """The check is not in a state that allows this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """`what` is failed, passed, reset, skipped or aborted; `said` is the reason.

    `failed_gates` are numbers of gates, `unproven` the criteria without a passing result
    of their verifier, `remarks` what was said about single gates and criteria.
    """

    what: str
    said: str
    failed_gates: tuple[int, ...] = ()
    unproven: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckState:
    """`attempts` counts the failures since the check was opened or last reset."""

    mode: str
    max_attempts: int
    max_resets: int = MAX_RESETS
    status: str = "open"
    attempts: int = 0
    resets: int = 0
    guidance: str = ""
    history: tuple[Event, ...] = ()

    @property
    def attempt(self) -> int:
        """The number of the attempt that is due, or that ended the check."""
        due = self.status in {"open", "passed"}
        return self.attempts + 1 if due else self.attempts

    @property
    def attempts_left(self) -> int:
        return self.max_attempts - self.attempts

    @property
    def last_failure(self) -> Event | None:
        failures = (event for event in reversed(self.history) if event.what == "failed")
        return next(failures, None)

    @property
    def offers(self) -> tuple[str, ...]:
        """What a person may choose now."""
        if self.status != "exhausted":
            return ()
        spent = self.resets >= self.max_resets
        return tuple(word for word in _RULINGS if not (spent and word == "retry"))

    def to_json(self) -> dict[str, object]:
        return asdict(self)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> CheckState:
        state = cls(
            **{**document, "history": tuple(map(_read_event, document["history"]))}
        )
        if state.status not in STATUSES or state.mode not in MODES:
            raise ValueError(f"no such state of a check: {state.status}, {state.mode}")
        return state


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """`word` is passed, retry, warned, logged or exhausted.

    `warning` is what an advisory check leaves behind on the run.
    """

    word: str
    state: CheckState
    hints: tuple[str, ...] = ()
    unproven: tuple[str, ...] = ()
    warning: str | None = None


def open_check(gates: CombinedGates, *, max_resets: int = MAX_RESETS) -> CheckState:
    return CheckState(
        mode=gates.mode, max_attempts=gates.max_attempts, max_resets=max_resets
    )


def apply_verdict(
    state: CheckState,
    verdict: Verdict,
    *,
    gates: CombinedGates,
    evidence: Sequence[Evidence] = (),
) -> Outcome:
    """What a verdict makes of an open check, with the evidence of this attempt.

    A PASS counts when every criterion that has a verifier is proven. One that is not
    makes a failed attempt of it, as a FAIL would: else an agent that never proves
    anything could go on claiming, and no person would hear of it.
    """
    if state.status != "open":
        raise NotOffered(f"the check is {state.status}: it takes no more verdicts")
    missing = list_unproven(gates, evidence) if verdict.passed else ()
    if verdict.passed and not missing:
        event = Event(what="passed", said=verdict.rationale)
        return Outcome(word="passed", state=_add_event(state, event, status="passed"))
    event = Event(
        what="failed",
        said=verdict.rationale,
        failed_gates=verdict.failed_gates or _find_owners(gates, missing),
        unproven=missing,
        remarks=tuple(_list_remarks(gates, verdict, evidence)),
    )
    attempts = state.attempts + 1
    left = attempts < state.max_attempts
    status = _MILD.get(state.mode) or ("open" if left else "exhausted")
    return Outcome(
        word="retry" if status == "open" else status,
        state=_add_event(state, event, status=status, attempts=attempts),
        hints=gates.list_hints(event.failed_gates),
        unproven=missing,
        warning=_build_warning(gates, event) if status == "warned" else None,
    )


def apply_ruling(
    state: CheckState, ruling: str, *, said: str, guidance: str = ""
) -> CheckState:
    """What a person's choice makes of an exhausted check.

    `said` is the reason that history keeps; `guidance` reaches the next prompt.
    """
    if ruling not in state.offers:
        offered = ", ".join(state.offers) or "nothing"
        raise NotOffered(f"{ruling!r} is not offered; this check offers {offered}")
    status = _RULINGS[ruling]
    if status != "open":
        return _add_event(state, Event(what=status, said=said), status=status)
    return _add_event(
        state,
        Event(what="reset", said=said),
        status=status,
        attempts=0,
        resets=state.resets + 1,
        guidance=guidance,
    )


def _add_event(state: CheckState, event: Event, **changes: Any) -> CheckState:
    return replace(state, history=(*state.history, event), **changes)


def _find_owners(gates: CombinedGates, criteria: tuple[str, ...]) -> tuple[int, ...]:
    """The numbers of the gates that these criteria belong to."""
    ids = {name.partition(".")[0] for name in criteria}
    numbered = enumerate(gates.gates, 1)
    return tuple(number for number, gate in numbered if gate.slug in ids)


def _list_remarks(
    gates: CombinedGates, verdict: Verdict, evidence: Sequence[Evidence]
) -> Iterator[str]:
    for entry in verdict.per_gate:
        if not entry.passed:
            yield f"{gates.gates[entry.index - 1].slug}: {entry.rationale}"
    for item in evidence:
        if not item.passed:
            yield f"{item.criterion}: {item.said[:RATIONALE_LIMIT]}"


def _build_warning(gates: CombinedGates, event: Event) -> str:
    names = [
        gate.slug
        for number, gate in enumerate(gates.gates, 1)
        if number in event.failed_gates or not event.failed_gates
    ]
    told = f"Gate not passed: {', '.join(names)}. {describe_failure(event)}"
    if not event.unproven:
        return told
    # A claim says nothing about why it was not believed; what the verifiers said does.
    return " ".join((told, *(f"({remark})" for remark in event.remarks[:HINT_LIMIT])))


def describe_failure(event: Event) -> str:
    """What was said about a failed attempt, in one line."""
    if not event.unproven:
        return event.said
    proofs = ", ".join(event.unproven)
    return f"PASS was claimed without a passing result for {proofs}: {event.said}"


def _read_event(document: Mapping[str, Any]) -> Event:
    lists = ("failed_gates", "unproven", "remarks")
    return Event(**{**document, **{name: tuple(document[name]) for name in lists}})
