"""The orders of open reviews: where one stands in each, and what stands beyond it.

No order knows a clock, so a list that is on screen stays right until an entry in the
ledger says otherwise; the browser sorts arriving rows by the same rule
(`static/js/queue.js`).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.db.models import Q, QuerySet

from common.ids import parse_code
from reviews.models import Review

URGENCY = "urgency"
# By their names: the columns, the last before the code is a time.
SORTS: dict[str, tuple[str, ...]] = {
    URGENCY: ("urgency", "answer_by"),
    "due": ("answer_by",),
    "age": ("opened_at",),
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_URGENCIES = 16


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where a review stands: how urgent it is, if that counts, then a time."""

    urgency: int
    time: int
    code: str

    def __str__(self) -> str:
        return f"{self.urgency}.{self.time}.{self.code}"


def get_place(review: Review, sort: str) -> Place:
    time = getattr(review, SORTS[sort][-1])
    return build_place(sort, urgency=review.urgency, time=time, code=review.code)


def build_place(sort: str, *, urgency: int, time: datetime, code: UUID) -> Place:
    """`time` is the one that this order goes by."""
    return Place(urgency if sort == URGENCY else 0, count_microseconds(time), str(code))


def parse_place(text: str) -> Place | None:
    """The place in its one spelling, or None."""
    urgency, _, rest = text.partition(".")
    time, _, code = rest.partition(".")
    known = (
        _is_number(urgency, most=2)
        and int(urgency) < _URGENCIES
        and _is_number(time, most=16)
        and parse_code(code) is not None
    )
    place = Place(int(urgency), int(time), code) if known else None
    return place if str(place) == text else None


def order_rows(rows: QuerySet[Review], sort: str) -> QuerySet[Review]:
    return rows.order_by(*SORTS[sort], "code")


def filter_beyond(place: Place, sort: str, side: str) -> Q:
    """What stands on one side of a place: `lt` before it, `gt` after it. The first
    condition alone lets the database begin at the right place."""
    *_, column = SORTS[sort]
    moment = _EPOCH + timedelta(microseconds=place.time)
    beyond = Q(**{f"{column}__{side}e": moment}) & (
        Q(**{f"{column}__{side}": moment})
        | Q(**{column: moment, f"code__{side}": UUID(place.code)})
    )
    if sort != URGENCY:
        return beyond
    return Q(**{f"urgency__{side}e": place.urgency}) & (
        Q(**{f"urgency__{side}": place.urgency}) | Q(urgency=place.urgency) & beyond
    )


def count_microseconds(moment: datetime) -> int:
    """Since 1970: exact, and still a number that JavaScript holds exactly."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def _is_number(text: str, *, most: int) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= most
