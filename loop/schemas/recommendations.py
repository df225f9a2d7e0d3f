"""Recommendations: changes that a manager may adopt."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StringConstraints

from common.fields import Cursor, Id, Moment
from loop.schemas.fields import Data, LoopQuery, Slug
from reviews.schemas.fields import Body, Redacted, ShortText, redact_and_cut

VERSION_MAX = 2**31 - 1
Title = Annotated[
    str, StringConstraints(min_length=1, max_length=200), redact_and_cut(200)
]


class PolicyChangeIn(Body):
    """Keys of a policy document to set, merged into the version in force."""

    policy: Annotated[str, StringConstraints(min_length=1, max_length=64)] = "default"
    set: Annotated[Data, Field(min_length=1)]


class LoopChangeIn(Body):
    """A loop that the policy defines, to be started once a person adopts it."""

    kind: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    parameters: Data = {}


class AdviceIn(Body):
    """Something that only a person can do; adopting it says that it is done."""

    advice: Annotated[str, StringConstraints(min_length=1, max_length=2_000), Redacted]


class RecommendationIn(Body):
    """A change that a manager may adopt: of a policy, a loop to start, or advice."""

    title: Title
    detail: ShortText = ""
    change: PolicyChangeIn | LoopChangeIn | AdviceIn
    project: Slug | None = None


class AdoptIn(Body):
    """`based_on` is the policy version whose difference was looked at; required where a
    policy would change."""

    based_on: Annotated[int, Field(ge=1, le=VERSION_MAX)] | None = None


class RecommendationFilters(LoopQuery):
    state: Literal["pending", "drafted", "adopted", "dismissed"] | None = None


class RecommendationOut(BaseModel):
    """A recommended change, and what became of it."""

    id: Id
    title: str
    detail: str
    change: dict[str, Any]
    state: str
    decision_id: Id | None
    draft: dict[str, Any] | None
    evidence: Annotated[
        dict[str, Any] | None, Field(description="the counts it was learned from")
    ]
    created_at: Moment
    ended_at: Moment | None


class RecommendationPage(BaseModel):
    """A page of recommendations, newest first."""

    items: list[RecommendationOut]
    next_cursor: Cursor
