"""What people's programs send and get when they rule on several reviews at once."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, StringConstraints

from common.fields import Id
from reviews.schemas.fields import Body, StepNumber, Text
from reviews.schemas.reviews import RulingOut

BULK_LIMIT = 100
BulkAction = Literal["approve", "deny", "abort", "retry", "skip"]
BulkStatus = Literal[
    "ruled", "needs-approval", "already-ruled", "changed", "not-found", "refused"
]


def _refuse_allowance(value: Any) -> None:
    """Each run has its own figures: nobody puts one ceiling on all of them."""
    if value is not None:
        raise ValueError("an allowance is given on one review by itself")


class BulkItemIn(Body):
    """One review as it was read: its version and its digest must still be the same."""

    id: Annotated[str, StringConstraints(max_length=100)]
    version: StepNumber
    content_digest: Annotated[str, StringConstraints(max_length=100)]


class BulkRulingIn(Body):
    """One action and one note, for reviews of one kind."""

    items: Annotated[list[BulkItemIn], Field(min_length=1, max_length=BULK_LIMIT)]
    action: BulkAction
    note: Text = ""
    allowance: Annotated[
        None,
        BeforeValidator(_refuse_allowance),
        Field(description="an allowance is given on one review by itself"),
    ] = None


class BulkResult(BaseModel):
    """What became of one of them. `problem` is what a ruling on it alone would have
    answered; `ruling` is the one that counts, where there is one."""

    id: Id
    status: BulkStatus
    problem: dict[str, Any] | None = None
    ruling: RulingOut | None = None


class BulkRulingOut(BaseModel):
    """In the order in which they were sent."""

    results: list[BulkResult]
