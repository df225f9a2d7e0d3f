"""What operations about past rulings take and answer."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from common.fields import Cursor, Id, Moment, When
from common.paging import ProjectQuery, QueryText
from ledger.schemas import ReviewKindName, SeverityName
from reviews.schemas.reviews import Action

Sort = Literal["newest", "oldest", "slowest", "fastest"]
CallState = Literal["waiting", "started", "succeeded", "failed", "expired", "revoked"]


OutcomeName = Literal[
    "call-failed", "run-failed", "not-accepted", "aborted", "running", "good"
]


class RulingFilters(ProjectQuery):
    """A name given several times means any of them."""

    by: Annotated[list[QueryText], Field(description="who ruled")] = []
    action: list[Action] = []
    kind: list[ReviewKindName] = []
    severity: list[SeverityName] = []
    agent: list[QueryText] = []
    rule: Annotated[
        list[QueryText],
        Field(
            description="a rule or gate that asked; `git-*` takes all of a beginning"
        ),
    ] = []
    alike: Annotated[
        list[QueryText], Field(description="what the links of the console say")
    ] = []
    label: Annotated[QueryText | None, Field(description="name:value, of the run")] = (
        None
    )
    since: When = Field(None, description="ruled at or after this moment")
    until: When = Field(None, description="ruled before this moment")
    faster_than_ms: Annotated[
        int | None,
        Field(
            ge=1,
            le=2**53,
            description="read for less; by API, ruled sooner after opening",
        ),
    ] = None
    regretted: bool | None = None
    outcome: Annotated[
        list[OutcomeName], Field(description="what came of it; any of them")
    ] = []
    q: Annotated[
        QueryText | None,
        Field(description="in the title, the note or the agent's name"),
    ] = None
    sort: Sort = "newest"


class RulingListQuery(RulingFilters):
    """The same, page by page."""

    cursor: QueryText | None = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50


class RulingOutcomeOut(BaseModel):
    """What came of it so far, from the run and the call that it is about."""

    text: str
    call: Annotated[CallState | None, Field(description="of the call that it allowed")]
    run_status: str
    accepted: bool | None
    regretted: bool


class PastRulingOut(BaseModel):
    """A ruling with what it was about and what came of it."""

    id: Id
    review: Id
    run: Id
    agent: str
    kind: ReviewKindName
    severity: SeverityName
    rule: Annotated[str, Field(description="that asked first")]
    rules: Annotated[list[str], Field(description="that asked, and their gates")]
    title: str
    action: Action
    note: str
    answer: str | None
    by: str
    opened_at: Moment
    at: Moment
    waited_ms: Annotated[int, Field(description="from opening to ruling")]
    read_ms: Annotated[
        int | None,
        Field(
            description="from when a screen first had it open for this person; 0 on none, "
            "null by API"
        ),
    ]
    outcome: RulingOutcomeOut
    url: str


class RulingPageOut(BaseModel):
    """A page of rulings; `total` counts all that the filters let in."""

    items: list[PastRulingOut]
    next_cursor: Cursor
    previous_cursor: Cursor
    total: int


class ReviewerQuery(ProjectQuery):
    """A time."""

    since: When = Field(None, description="30 days before `until` if left out")
    until: When = Field(None, description="now if left out")


class RulingFiguresOut(BaseModel):
    """Shares are of `approvals`, and null below `minimum` rulings."""

    rulings: int
    per_week: float
    actions: dict[str, int]
    median_ms: Annotated[int | None, Field(description="half waited no longer")]
    p90_ms: int | None
    median_read_ms: Annotated[
        int | None, Field(description="half were read for no longer; of those known")
    ]
    approvals: Annotated[int, Field(description="approve, amend and skip")]
    fast_approvals: Annotated[int, Field(description="read for less than `fast_ms`")]
    fast_share: float | None
    regretted: int
    regretted_share: float | None
    regretted_by: Annotated[
        dict[str, int],
        Field(description="what came of them, by outcome; one may have several"),
    ]


class ReviewerOut(RulingFiguresOut):
    """One person; `claimed` counts the open reviews that they have claimed now."""

    person: str
    role: str | None
    claimed: int


class WaitingReviewsOut(BaseModel):
    """What is open now."""

    open: int
    unclaimed: int
    oldest_opened_at: Moment | None


class ReviewerStatisticsOut(BaseModel):
    """Most rulings first; a reviewer sees only themselves, and no total."""

    since: Moment
    until: Moment
    fast_ms: int
    minimum: int
    total: RulingFiguresOut | None
    reviewers: list[ReviewerOut]
    waiting: WaitingReviewsOut
