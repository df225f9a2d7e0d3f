"""The registry of what a backtest judges again, and what a judge gets and answers.

The app that writes a type of entry registers how its decision is judged again:

    register_judge("turn.judged", kind=TURN, judge=judge_turn_again, describe=...)

A judge gets a `StoredDecision` and answers with both judgements, or with `Unknown`. It is
pure, as gates are. What it needs from earlier entries of the run, beyond the run's state,
is kept in `notes` by a function that is registered with `register_note`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

from guidance.core.policy import Policy
from ledger.entry_types import Apply
from ledger.state import RunState

Payload = Mapping[str, Any]
Notes = dict[str, Any]
# A verdict as entries have it: decision, and findings with gate, decision and message.
Judgement = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionKind:
    """`decisions` are its words, the strictest first; `asking` those that ask a person."""

    name: str
    decisions: tuple[str, ...]
    asking: frozenset[str]

    def is_stricter(self, before: str, after: str) -> bool:
        return self.decisions.index(after) < self.decisions.index(before)

    def compare_asking(self, before: str, after: str) -> str:
        """Whether people are asked `more` or `less`, or neither."""
        asked, asks = before in self.asking, after in self.asking
        if asked == asks:
            return ""
        return "more" if asks else "less"


@dataclass(frozen=True)
class PolicyPair:
    """The policy that a decision was made under, and the draft to try."""

    own: Policy
    draft: Policy

    @cached_property
    def same_for_steps(self) -> bool:
        own, draft = self.own, self.draft
        return (
            own.continue_limits,
            own.budget,
            own.caps.open_reviews,
            own.reviews.allowances,
        ) == (
            draft.continue_limits,
            draft.budget,
            draft.caps.open_reviews,
            draft.reviews.allowances,
        )

    @cached_property
    def same_for_calls(self) -> bool:
        """Also by severities and four eyes: by these a plan or a model answers, or does not."""
        own, draft = self.own, self.draft
        return (
            own.tools == draft.tools
            and own.budget == draft.budget
            and own.caps.open_reviews == draft.caps.open_reviews
            and own.reviews.severity == draft.reviews.severity
            and own.four_eyes == draft.four_eyes
        )

    @cached_property
    def same_for_turns(self) -> bool:
        return self.own.turns == self.draft.turns


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDecision:
    """An entry to judge again; `state` is the run's before it."""

    payload: Payload
    at: datetime
    state: RunState
    model: str
    notes: Notes
    policies: PolicyPair


class Unknown(NamedTuple):
    """The stored facts cannot say; `reason` is a phrase for people."""

    reason: str


class BothJudgements(NamedTuple):
    before: Judgement
    after: Judgement


class Subject(NamedTuple):
    """What a decision was about: the run's step at that time, and a line of text."""

    step: int
    text: str


Judge = Callable[[StoredDecision], BothJudgements | Unknown]
Describe = Callable[[Payload, RunState], Subject]
Note = Callable[[Payload, Notes], None]
# The name, version and hash of the policy that a decision was made under.
GetStamp = Callable[[Payload, Notes], Mapping[str, Any]]


def get_own_stamp(payload: Payload, _notes: Notes) -> Mapping[str, Any]:
    stamp: Mapping[str, Any] = payload["policy"]
    return stamp


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredJudge:
    kind: DecisionKind
    judge: Judge
    describe: Describe
    apply: Apply | None
    get_stamp: GetStamp


_judges: dict[str, RegisteredJudge] = {}
_notes: dict[str, Note] = {}


def register_judge(
    entry_type: str,
    *,
    kind: DecisionKind,
    judge: Judge,
    describe: Describe,
    apply: Apply | None = None,
    get_stamp: GetStamp = get_own_stamp,
) -> None:
    """For apps at start-up. `apply` moves the run's state where the entry type's own
    does not move all that judges look at."""
    _judges[entry_type] = RegisteredJudge(
        kind=kind, judge=judge, describe=describe, apply=apply, get_stamp=get_stamp
    )


def register_note(entry_type: str, note: Note) -> None:
    """For apps at start-up: keep something of an entry for the judges of later ones."""
    _notes[entry_type] = note


def find_judge(entry_type: str) -> RegisteredJudge | None:
    return _judges.get(entry_type)


def find_note(entry_type: str) -> Note | None:
    return _notes.get(entry_type)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedAgain:
    """One stored decision, judged again, or not where the facts do not say.

    `review` is the one by which a person was asked. `subject` is there where the decision
    comes out otherwise.
    """

    kind: DecisionKind
    run_id: int
    seq: int
    at: datetime
    review: str | None
    outcome: BothJudgements | Unknown
    subject: Subject | None = None
