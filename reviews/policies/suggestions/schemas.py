"""What the API of suggestions takes and answers."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from common.fields import Id, Moment
from reviews.policies.backtest.schemas import ProgressOut
from reviews.policies.schemas import Note, Slug, VersionOut
from reviews.schemas.fields import Body

Value = int | float | str


class SearchIn(Body):
    """Look through the history of the policy. `project` is needed if you are in several."""

    project: Slug | None = None


class SuggestedDraftIn(SearchIn):
    """`setting` names the suggestion. The note says what it rests on unless you write
    another."""

    setting: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    note: Note = ""


class TradeOffPoint(BaseModel):
    """At this value: how many runs that people aborted it would have held, and how often
    it would have held a run in vain."""

    value: Value
    caught: int
    in_vain: int


class StretchOut(BaseModel):
    """A run that the suggested value holds and today's does not, or the other way round."""

    run: Id
    outcome: Literal["stopped", "approved", "completed"]
    value: Value = Field(description="the figure that came furthest")


class LimitSuggestionOut(BaseModel):
    """A limit, what other values would have led to, and the one that is suggested.

    A stretch of a run ends with an approval, an abort or the run. `stopped` were ended by a
    person's abort, `approved` by an approval, and about `completed` nobody was asked.
    """

    setting: str
    gate: str
    decision: Literal["pause", "stop", "throttle"]
    today: Value
    suggested: Value | None = Field(description="null: nothing is suggested")
    enough: bool = Field(description="whether there are rulings enough to suggest by")
    stopped: int
    approved: int
    completed: int
    steps: int = Field(description="steps that this limit alone decides about")
    decisions_changed: int = Field(description="steps that would come out otherwise")
    points: list[TradeOffPoint]
    examples: list[StretchOut]
    meaning: str | None
    because: str
    rests_on: str
    offered: bool = Field(
        description="whether it rests on 20 rulings or more, and a draft can be made"
    )


class AskedCallOut(BaseModel):
    """A call that would not have been asked about."""

    review: Id
    title: str
    answer: Literal[
        "approved", "amended", "denied", "aborted", "expired", "waiting", "ended"
    ]


class RuleSuggestionOut(BaseModel):
    """A rule that people always approve, with its record, and some of the calls that it
    would have let through."""

    setting: str
    rule: str
    gate: str
    before: Literal["require-confirmation"]
    after: Literal["warn"]
    asked: int
    approved: int
    amended: int
    denied: int
    aborted: int
    expired: int
    waiting: int
    ended: int
    calls: list[AskedCallOut]
    meaning: str
    because: str
    offered: bool = Field(
        description="whether it rests on 20 approvals or more, and a draft can be made"
    )


class SuggestionsOut(BaseModel):
    """What the last search that was finished suggests; `state` and `progress` are those
    of the newest one. All null and empty where nobody has looked yet."""

    project: str
    policy: str
    state: Literal["waiting", "running", "finished", "cancelled", "failed"] | None
    reason: str | None
    progress: ProgressOut | None
    version: int | None = Field(description="the version in force that was looked at")
    stale: bool = Field(description="another version is in force now: look again")
    since: Moment | None
    until: Moment | None
    steps: int
    runs: int
    other: int = Field(description="steps that were measured in another way")
    counted_all: bool
    limits: list[LimitSuggestionOut]
    rules: list[RuleSuggestionOut]


class SuggestedDraftOut(VersionOut):
    """The draft, and the backtest that was started of it."""

    backtest: Id
