"""Keyset paging and query checks that every list shares."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Annotated, TypeVar

from django.db.models import Model, QuerySet
from pydantic import BaseModel, Field, StringConstraints

from common.errors import Invalid
from common.ids import parse_code

M = TypeVar("M", bound=Model)

# Without NUL, which PostgreSQL cannot hold in any text.
QueryText = Annotated[str, StringConstraints(max_length=400, pattern=r"^[^\x00]*$")]


class PageQuery(BaseModel):
    """What every list takes."""

    cursor: QueryText | None = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50


class ProjectQuery(BaseModel):
    """Which project: needed by people who are in several."""

    project: QueryText | None = None


def list_page_after(
    rows: QuerySet[M], *, among: QuerySet[M], cursor: str | None, limit: int
) -> tuple[list[M], str | None]:
    """Newest first by key, never by offset; the cursor is the code of the last row.

    `among` are all rows the caller may see: the last row of a page may have left the
    filter since, and the next page still begins after it.
    """
    if cursor is not None:
        known = parse_code(cursor)
        last = among.filter(code=known).values_list("pk", flat=True).first()
        if known is None or last is None:
            raise build_parameter_error(
                "cursor", "not a cursor that this list gave out"
            )
        rows = rows.filter(pk__lt=last)
    found = list(rows.order_by("-pk")[: limit + 1])
    if len(found) <= limit:
        return found, None
    return found[:limit], str(found[limit - 1].code)  # type: ignore[attr-defined]


def refuse_unknown_parameters(names: Iterable[str], known: Container[str]) -> None:
    """A filter we do not know is refused: ignored, it would show everything."""
    for name in names:
        if name not in known:
            raise build_parameter_error(name, "not a parameter of this address")


def build_parameter_error(name: str, message: str) -> Invalid:
    return Invalid(
        f"{name}: {message}.", errors=[{"loc": ["query", name], "message": message}]
    )
