"""Keyset pagination of open rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from django.db.models import QuerySet

from common.ids import parse_code
from loop.models import Note, Recommendation

PAGE = 50

M = TypeVar("M", Note, Recommendation)
R = TypeVar("R")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[R]):
    """`next` is the query of the next page, empty on the last one."""

    rows: list[R]
    next: str


def list_page(
    rows: QuerySet[M], *, among: QuerySet[M], last: str, newest_first: bool
) -> Page[M]:
    """What follows the row that `last` names, or the first page.

    `among` are all rows of the project: the one named may have ended since.
    """
    known = parse_code(last)
    if known is not None:
        key = among.filter(code=known).values_list("pk", flat=True).first()
        if key is not None:
            side = "pk__lt" if newest_first else "pk__gt"
            rows = rows.filter(**{side: key})
    found = list(rows.order_by("-pk" if newest_first else "pk")[: PAGE + 1])
    query = ""
    if len(found) > PAGE:
        word = "before" if newest_first else "after"
        query = f"{word}={found[PAGE - 1].code}"
    return Page(rows=found[:PAGE], next=query)
