"""Notes for the loop."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, StringConstraints

from common.fields import Cursor, Id, Moment
from loop.schemas.fields import Data, LoopQuery, Slug
from reviews.schemas.fields import Body, Redacted, ShortText

NoteText = Annotated[str, StringConstraints(min_length=1, max_length=20_000), Redacted]


class NoteIn(Body):
    """Something that the loop should know."""

    text: NoteText
    data: Data = {}
    project: Slug | None = None


class NoteEndIn(Body):
    """What became of a note."""

    reason: ShortText = ""


class NoteFilters(LoopQuery):
    state: Literal["queued", "claimed", "done", "failed"] | None = None


class NoteOut(BaseModel):
    """A note in the loop's queue."""

    id: Id
    text: str
    data: dict[str, Any]
    state: str
    decision_id: Id | None
    claims: int
    claimed_until: Moment | None
    reason: str
    created_at: Moment
    ended_at: Moment | None


class NotePage(BaseModel):
    """A page of notes, newest first."""

    items: list[NoteOut]
    next_cursor: Cursor
