"""Field types and query parameters that several schemas of the loop share."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, StringConstraints

from common.paging import PageQuery, QueryText
from guidance.core.canonical import to_canonical_json
from reviews.schemas.fields import Cleaned

DATA_LIMIT = 16 * 1024


def _check_size(value: dict[str, Any]) -> dict[str, Any]:
    if len(to_canonical_json(value).encode()) > DATA_LIMIT:
        raise ValueError(f"at most {DATA_LIMIT // 1024} KiB of JSON")
    return value


# Which project: needed by people who are in several; an agent has one.
Slug = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Data = Annotated[dict[str, Any], Cleaned, AfterValidator(_check_size)]


class LoopQuery(PageQuery):
    project: QueryText | None = None
