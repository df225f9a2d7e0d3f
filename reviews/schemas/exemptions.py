"""What people's programs send and get about values that are no secrets."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, StringConstraints

from common.fields import Cursor, Id, Moment
from reviews.schemas.fields import Body, Code

Fingerprint = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{8}$")]
GivenReason = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4_000)
]


class ExemptionIn(Body):
    """A secret that blocked a call, by its fingerprint, and why it is none."""

    call: Code
    fingerprint: Fingerprint
    reason: GivenReason


class ExemptionOut(BaseModel):
    """A value that blocks no call of the project, until that is taken back."""

    id: Id
    project: str
    fingerprint: str
    label: str
    reason: str
    made_by: str
    made_at: Moment
    revoked_by: str | None
    revoked_at: Moment | None
    state: str
    call: Id
    run: Id


class ExemptionPage(BaseModel):
    """A page of exemptions, newest first."""

    items: list[ExemptionOut]
    next_cursor: Cursor
