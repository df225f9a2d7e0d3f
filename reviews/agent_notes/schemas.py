"""What people send as a note to an agent, and what both sides see of it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from common.fields import Id, Moment
from reviews.schemas.fields import Body, redact_and_cut

TEXT_MAX = 2_000
TAG_MAX = 32
TAGS_MAX = 8
WAITING_MAX = 20

NoteText = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=TEXT_MAX),
    redact_and_cut(TEXT_MAX),
]
Tag = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=1, max_length=TAG_MAX, pattern=r"^[\w.:-]+$"
    ),
    redact_and_cut(TAG_MAX),
]
Tags = Annotated[list[Tag], Field(max_length=TAGS_MAX)]


class AgentNoteIn(Body):
    """A word to the agent. It goes on meanwhile, and hears it with its next answer."""

    text: Annotated[NoteText, Field(description="secrets in it are replaced")]
    tags: Annotated[Tags, Field(description="short words, such as `scope`")] = []


class AgentNoteOut(BaseModel):
    """A note as the agent is given it. Drop an id that you have had: where an answer may
    have been lost, the same note comes again."""

    id: Id
    text: str
    by: Annotated[str, Field(description="who wrote it")]
    at: Moment
    tags: list[str]


class ListedNoteOut(AgentNoteOut):
    """The same with what became of it."""

    state: Annotated[
        Literal["waiting", "delivered", "read"],
        Field(description="`read`: a later step followed, or the agent said so"),
    ]
    delivered_at: Moment | None
    delivered_with: Annotated[
        Literal["step", "call", "decision", "turn", "acknowledgement"] | None,
        Field(description="the answer that carried it"),
    ]
    delivered_step: Annotated[
        int | None, Field(description="the step it came with, or the last one before")
    ]
    read_at: Moment | None


class AgentNoteList(BaseModel):
    """All notes to the agent of a run, the oldest first."""

    items: list[ListedNoteOut]
