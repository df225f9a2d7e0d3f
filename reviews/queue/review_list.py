"""The list of reviews for people's programs: its parameters, its pages and its total."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from common.ids import parse_code
from common.paging import build_parameter_error, list_page_after
from ledger.run_list.filter import Label
from ledger.run_list.scope import Scope
from reviews.models import Review, ReviewState
from reviews.queue.filters import ReviewFilter, filter_reviews
from reviews.queue.places import (
    Place,
    filter_beyond,
    get_place,
    order_rows,
    parse_place,
)
from reviews.schemas.reviews import ReviewFilters

# The id of no run.
_NO_RUN = UUID(int=0)
# In these orders only open reviews are kept.
_OPEN_ONLY = ("urgency", "due")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewListPage:
    reviews: list[Review]
    next_cursor: str | None
    total: int


def build_review_filter(filters: ReviewFilters) -> ReviewFilter:
    state = filters.state
    if filters.sort in _OPEN_ONLY:
        if state not in (None, ReviewState.OPEN):
            raise build_parameter_error(
                "sort", f"{filters.sort} is an order of open reviews; age is of all"
            )
        state = "open"
    labels = tuple(_parse_label(each) for each in filters.label)
    return ReviewFilter(
        state=state,
        kinds=tuple(filters.kind),
        severities=tuple(filters.severity),
        agents=tuple(filters.agent),
        labels=(labels,) if labels else (),
        runs=() if filters.run is None else (parse_code(filters.run) or _NO_RUN,),
        assignees=() if filters.assignee is None else (filters.assignee,),
        claimed=filters.claimed,
        snoozed=filters.snoozed,
        overdue=filters.overdue,
        texts=(filters.q.strip(),) if filters.q and filters.q.strip() else (),
    )


def list_review_page(
    scope: Scope,
    wanted: ReviewFilter,
    *,
    sort: str | None,
    cursor: str | None,
    limit: int,
    related: Sequence[str] = (),
) -> ReviewListPage:
    """By key, never by offset: a page stays what it was while others rule. `related` is
    read with each row."""
    shown = Review.objects.select_related(*related)
    found = filter_reviews(scope, wanted, at=timezone.now())
    if sort is None:
        rows, next_cursor = list_page_after(
            found.select_related(*related),
            among=scope.filter_rows(Review.objects.all()),
            cursor=cursor,
            limit=limit,
        )
    else:
        rows, next_cursor = _list_sorted(
            found, shown, sort=sort, cursor=cursor, limit=limit
        )
    return ReviewListPage(reviews=rows, next_cursor=next_cursor, total=found.count())


def _list_sorted(
    found: QuerySet[Review],
    shown: QuerySet[Review],
    *,
    sort: str,
    cursor: str | None,
    limit: int,
) -> tuple[list[Review], str | None]:
    """Which ones, from an index; then these rows with all that belongs to them."""
    ordered = order_rows(found, sort)
    if cursor is not None:
        ordered = ordered.filter(filter_beyond(_read_cursor(cursor), sort, "gt"))
    codes = list(ordered.values_list("code", flat=True)[: limit + 1])
    rows = shown.in_bulk(codes[:limit], field_name="code")
    listed = [rows[code] for code in codes[:limit]]
    more = len(codes) > limit
    return listed, str(get_place(listed[-1], sort)) if more else None


def _read_cursor(cursor: str) -> Place:
    place = parse_place(cursor)
    if place is None:
        raise build_parameter_error("cursor", "not a cursor that this list gave out")
    return place


def _parse_label(text: str) -> Label:
    name, colon, value = text.partition(":")
    if not colon or not name:
        raise build_parameter_error("label", "must be name:value")
    return name, value
