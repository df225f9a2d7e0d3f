"""What people's programs send and get about reviews, rulings and permissions."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    Field,
    StringConstraints,
)

from common.fields import Cursor, Id, Moment
from common.paging import PageQuery, QueryText
from ledger.schemas import (
    ReviewKindName,
)
from reviews.schemas.fields import Body, Limit, Money, Reason, StepNumber, Text

Action = Literal["approve", "abort", "deny", "answer", "retry", "skip", "amend"]


class BudgetIn(Body):
    """A part left out stays as it is; null means unlimited. An agent gets no more than
    its policy's ceiling."""

    tokens: Limit | None = None
    tool_calls: Limit | None = None
    time_ms: Limit | None = None
    cost_usd: Money | None = None


class AbortIn(Body):
    """Why the run is ended by a person."""

    reason: Reason = ""
    children: Annotated[
        bool, Field(description="also every open run below it, however deep")
    ] = False


class ReopenIn(Body):
    """Why a stopped run may go on, and with how much more."""

    budget: BudgetIn = Field(default_factory=BudgetIn)
    reason: Annotated[str, StringConstraints(min_length=1, max_length=4_000)]


class RememberIn(Body):
    """Do not ask again: for this very call, or for calls of its shape."""

    scope: Literal["exact", "shape"]
    hours: Annotated[int, Field(ge=1, le=720)] = 8
    uses: Annotated[int, Field(ge=1, le=1_000)] = 50


class RulingIn(Body):
    """`version` and `content_digest` say what was seen: without them, no ruling."""

    action: Action
    version: StepNumber | None = None
    content_digest: Annotated[str, StringConstraints(max_length=100)] | None = None
    note: Text = ""
    answer: Text | None = None
    amended: dict[str, Any] | None = None
    remember: RememberIn | None = None


class CommentIn(Body):
    """A note for the other reviewers; agents do not see it."""

    text: Annotated[str, StringConstraints(min_length=1, max_length=20_000)]


ReviewState = Literal["open", "ruled", "expired", "superseded", "withdrawn"]


class PermissionOut(BaseModel):
    """What need not be asked again, until it ends or is taken back."""

    id: Id
    project: str
    scope: str
    tool: str
    covers: str
    rules: list[str]
    granted_by: str
    granted_at: Moment
    expires_at: Moment
    uses_left: int
    used: int
    last_used_at: Moment | None
    revoked_by: str | None
    revoked_at: Moment | None
    state: str
    review: Id
    run: Id


class PermissionPage(BaseModel):
    """A page of permissions, newest first."""

    items: list[PermissionOut]
    next_cursor: Cursor


class RulingOut(BaseModel):
    """What a person chose; `note`, `answer` and `amended` are for the agent."""

    id: Id
    action: Action
    note: str
    answer: Annotated[str | None, Field(description="to a question")]
    amended: Annotated[
        dict[str, Any] | None, Field(description="the call as a person changed it")
    ]
    by: str
    at: Moment
    grant: Annotated[Id | None, Field(description="for a call that may now run")]


class WaitingOut(BaseModel):
    """Whether an agent waits for the ruling now, and when one was last seen waiting."""

    now: bool
    last_at: str | None


class ReviewOut(BaseModel):
    """What waits, or waited, for a person."""

    id: Id
    run: Id
    project: str
    agent: str
    kind: ReviewKindName
    state: ReviewState
    title: str
    step: int | None
    content: dict[str, Any]
    content_digest: str
    version: int
    rulings: Annotated[list[Action], Field(description="what the caller may choose")]
    assignee: str | None
    opened_at: Moment
    due_at: Moment
    on_expiry: str
    closed_at: Moment | None
    ruling: RulingOut | None
    waiting: WaitingOut | None
    url: str


class HistoryItem(BaseModel):
    """One thing that was done with a review."""

    seq: int
    at: Moment
    type: str
    actor: str
    by: str | None
    taken_from: str | None
    text: str | None


class ReviewDetail(ReviewOut):
    """A review, with all that was done with it."""

    history: list[HistoryItem]


class ReviewFilters(PageQuery):
    state: ReviewState | None = None
    kind: ReviewKindName | None = None
    run: QueryText | None = None
    assignee: Annotated[QueryText | None, Field(description="a user's name")] = None


class ReviewPage(BaseModel):
    """A page of reviews, newest first."""

    items: list[ReviewOut]
    next_cursor: Cursor
    total: Annotated[int, Field(description="how many the filters let in, in all")]
