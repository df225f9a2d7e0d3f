"""Types of fields that many answers share, as the API's document shows them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

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
