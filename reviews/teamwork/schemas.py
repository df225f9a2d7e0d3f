"""What people's programs send to share reviews."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, StringConstraints, WithJsonSchema

from common.fields import parse_moment
from reviews.schemas.fields import Body, Redacted

# Left out nowhere: where there is none, null is sent.
GivenMoment = Annotated[
    datetime,
    BeforeValidator(parse_moment),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
How = Literal["least_loaded", "round_robin"]
# Kept and shown to people, never sent to an agent: secrets in it are not.
HandoverNote = Annotated[str, StringConstraints(max_length=4_000), Redacted]
AssigneeName = Annotated[str, StringConstraints(min_length=1, max_length=150)]


class AssignIn(Body):
    """To whom, and what they should know."""

    to: Annotated[
        AssigneeName,
        Field(description="a user's name, or a role such as `role:reviewer`"),
    ]
    how: Annotated[
        How,
        Field(
            description="of those who have the role: who has the fewest open reviews, or "
            "whose last one is longest ago"
        ),
    ] = "least_loaded"
    note: HandoverNote = ""


class SnoozeIn(Body):
    """Until when it is set aside; null brings it back."""

    until: Annotated[
        Literal["run", "comment"] | GivenMoment | None,
        Field(
            description="a time, `run` (anything happens in its run) or `comment` "
            "(somebody comments); at the latest until `answer_by`"
        ),
    ]


class HandoverIn(Body):
    """What the next person should know, and who it is."""

    note: Annotated[str, StringConstraints(min_length=1, max_length=4_000), Redacted]
    to: Annotated[
        AssigneeName | None,
        Field(description="as for assigning; left out, everybody may take it"),
    ] = None
    how: How = "least_loaded"
