"""What the API of drafts beside policies takes and answers."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from common.fields import Cursor, Id, Moment, When
from common.paging import PageQuery, QueryText
from reviews.policies.backtest.schemas import RuleChangeOut, ShortJudgementOut
from reviews.policies.schemas import Note, Slug, VersionNumber
from reviews.schemas.fields import Body


class ShadowIn(Body):
    """A stored version that is to run beside the one in force. `note` says why."""

    version: VersionNumber
    until: When = Field(
        None, description="24 hours from now if left out, at most 31 days"
    )
    note: Note = ""
    project: Slug | None = None


class StopIn(Body):
    """`note` says why."""

    note: Note = ""


class ShadowOut(BaseModel):
    """A draft beside its policy; `end` is why it ended."""

    id: Id
    project: str
    policy: str
    version: int
    note: str
    by: str
    state: Literal["running", "ended"]
    started_at: Moment
    ends_at: Moment
    ended_at: Moment | None
    end: Literal["time", "stopped", "published"] | None


class ShadowList(BaseModel):
    """The newest of a policy, the newest first."""

    items: list[ShadowOut]


class ShadowItemOut(BaseModel):
    """A decision that the draft makes otherwise, with both judgements; or one that it could
    not judge, with the `reason`. What was erased from the ledger is null."""

    id: Id
    run: Id
    agent: str
    run_status: str
    seq: int | None = Field(description="the entry of the decision in its run's ledger")
    at: Moment
    kind: Literal["step", "call"]
    step: int | None
    subject: str | None
    gate: str | None
    rule: str | None
    move: str | None
    asks: Literal["more", "less"] | None
    before: ShortJudgementOut | None
    after: ShortJudgementOut | None
    reason: str | None


class ShadowItemPage(BaseModel):
    """Some of them, the newest first; `total` is how many the filters leave."""

    items: list[ShadowItemOut]
    next_cursor: Cursor
    total: int


class SameOut(BaseModel):
    """Decisions that both policies make alike."""

    step: int
    call: int


class ShadowResultOut(ShadowOut):
    """A draft beside its policy, and what was seen so far."""

    judged: int
    same: SameOut
    changed: int
    runs_changed: int
    unknown: int
    unknown_reasons: dict[str, int]
    by_gate: dict[str, int]
    by_rule: list[RuleChangeOut]
    moves: dict[str, int]
    decisions: dict[str, dict[str, int]] = Field(description="the moves by kind")
    would_have_asked: int
    would_not_have_asked: int
    examples: list[ShadowItemOut]


class ShadowItemFilters(PageQuery):
    outcome: Literal["changed", "unknown"] | None = None
    kind: Literal["step", "call"] | None = None
    gate: QueryText | None = None
    rule: QueryText | None = None
    move: QueryText | None = None
    asks: Literal["more", "less"] | None = None
