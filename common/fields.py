"""Types of fields that many answers share, as the API's document shows them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema

Id = Annotated[str, Field(json_schema_extra={"format": "uuid"})]
Moment = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
Usd = Annotated[
    str,
    Field(pattern=r"^-?[0-9]+(\.[0-9]+)?$", description="US dollars, as decimal text"),
]
Cursor = Annotated[
    str | None,
    Field(description="`cursor` of the next page; null where this is the last"),
]


def parse_moment(value: object) -> datetime | None:
    """A time with its zone, as everywhere on the wire."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValueError("must be a time such as 2026-11-01T00:00:00Z")
    moment = datetime.fromisoformat(value)
    if moment.tzinfo is None:
        raise ValueError("must say its time zone, such as Z")
    try:
        return moment.astimezone(UTC)
    except OverflowError as beyond:
        raise ValueError("must be a time that can be told in UTC") from beyond


When = Annotated[
    datetime | None,
    BeforeValidator(parse_moment),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
