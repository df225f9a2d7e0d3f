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
    AllowanceOut,
    ReviewKindName,
    SeverityName,
)
from reviews.schemas.fields import (
    Body,
    Limit,
    Money,
    Reason,
    Redacted,
    Share,
    StepNumber,
    Text,
)

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


class AllowanceIn(Body):
    """With the approval of a pause: how long the signal that paused the run does not ask
    again. What is left out is as much as the policy permits, and whoever has approved
    before; `steps` or `minutes` is needed."""

    steps: Annotated[
        int | None, Field(ge=1, le=10_000, description="the next so many steps")
    ] = None
    minutes: Annotated[
        int | None, Field(ge=1, le=10_080, description="from the ruling on")
    ] = None
    up_to: Annotated[
        Share | None,
        Field(description="a higher value asks again; left out: the reported one"),
    ] = None


class RulingIn(Body):
    """`version` and `content_digest` say what was seen: without them, no ruling."""

    action: Action
    version: StepNumber | None = None
    content_digest: Annotated[str, StringConstraints(max_length=100)] | None = None
    note: Text = ""
    answer: Text | None = None
    amended: dict[str, Any] | None = None
    remember: RememberIn | None = None
    allowance: AllowanceIn | None = None


# Kept and shown to people, never sent to an agent: secrets in it are not.
CommentText = Annotated[
    str, StringConstraints(min_length=1, max_length=20_000), Redacted
]


class CommentIn(Body):
    """A note for the other reviewers; agents do not see it."""

    text: Annotated[CommentText, Field(description="@name mentions a person")]
    reply_to: Annotated[
        QueryText | None, Field(description="`comment` of the one that it answers")
    ] = None


ReversibilityName = Literal[
    "read-only", "reversible here", "reversible elsewhere", "irreversible"
]
Sort = Literal["urgency", "age", "due"]
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


class ApprovalsOut(BaseModel):
    """How many different people have to approve, and how many have."""

    needed: int
    given: int


class AllowanceChoiceOut(BaseModel):
    """What one of several approvers would allow: nobody after them allows more."""

    gate: str
    up_to: float
    steps: int
    minutes: int


class ApprovalOut(BaseModel):
    """An approval that was not the last one needed."""

    by: str
    at: Moment
    action: Action
    note: str
    allowance: Annotated[
        AllowanceChoiceOut | None, Field(description="null: it goes on only once")
    ]


class ReviewOut(BaseModel):
    """What waits, or waited, for a person."""

    id: Id
    run: Id
    project: str
    agent: str
    kind: ReviewKindName
    state: ReviewState
    severity: SeverityName
    reversibility: ReversibilityName
    title: str
    step: int | None
    content: dict[str, Any]
    content_digest: str
    version: int
    approvals: Annotated[
        ApprovalsOut | None, Field(description="null where one person decides")
    ]
    rulings: Annotated[list[Action], Field(description="what the caller may choose")]
    assignee: Annotated[
        str | None, Field(description="who has claimed it, or was given it")
    ]
    claimed_until: Annotated[
        Moment | None, Field(description="a claim ends by itself then")
    ]
    snoozed_until: Annotated[
        Moment | None, Field(description="set aside until then at the latest")
    ]
    snoozed_for: Annotated[
        Literal["time", "run", "comment"] | None,
        Field(description="what brings it back"),
    ]
    opened_at: Moment
    answer_by: Annotated[Moment, Field(description="late from then on, still open")]
    due_at: Annotated[Moment, Field(description="then it ends by `on_expiry`")]
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
    to: Annotated[str | None, Field(description="to whom it was given")]
    comment: Annotated[Id | None, Field(description="of a comment: its id")]
    reply_to: Annotated[Id | None, Field(description="the comment that it answers")]
    mentions: Annotated[list[str], Field(description="people whom it names")]
    text: str | None


class GivenAllowanceOut(AllowanceOut):
    """What was allowed by the ruling on this review, and what became of it."""

    state: Annotated[
        Literal["standing", "steps", "time", "revoked", "replaced", "run_ended"],
        Field(description="`standing`, or why it has ended"),
    ]
    ended_at: Moment | None
    ended_by: Annotated[str | None, Field(description="who took it back")]


class ReviewDetail(ReviewOut):
    """A review, with all that was done with it."""

    allowance: GivenAllowanceOut | None

    approved_by: Annotated[
        list[ApprovalOut], Field(description="of what is to run now")
    ]
    amended: Annotated[
        dict[str, Any] | None,
        Field(description="what is to run instead, if it takes several approvals"),
    ]
    amended_findings: Annotated[
        list[dict[str, Any]], Field(description="what the gates say of `amended`")
    ]
    history: list[HistoryItem]


class ReviewFilters(PageQuery):
    """A name given several times means any of them; different names must all fit."""

    state: ReviewState | None = None
    kind: list[ReviewKindName] = []
    severity: list[SeverityName] = []
    agent: Annotated[list[QueryText], Field(description="agents' names")] = []
    label: Annotated[
        list[QueryText], Field(description="name:value, of the run", max_length=50)
    ] = []
    run: QueryText | None = None
    assignee: Annotated[QueryText | None, Field(description="a user's name")] = None
    claimed: Annotated[
        bool | None, Field(description="by anybody; what was only given is not")
    ] = None
    snoozed: Annotated[bool | None, Field(description="set aside")] = None
    overdue: Annotated[
        bool | None, Field(description="open, and later than `answer_by`")
    ] = None
    q: Annotated[
        QueryText | None,
        Field(description="words of the title, the task, the agent or the labels"),
    ] = None
    sort: Annotated[
        Sort | None,
        Field(
            description="`urgency`: the most severe first, then what cannot be undone, "
            "then what is to be answered first; `due`: what is to be answered first; "
            "`age`: the oldest first. Left out: the newest first. With `urgency` and "
            "`due` only open reviews are listed."
        ),
    ] = None


class ReviewPage(BaseModel):
    """A page of reviews, newest first unless they are sorted otherwise."""

    items: list[ReviewOut]
    next_cursor: Cursor
    total: Annotated[int, Field(description="how many the filters let in, in all")]
