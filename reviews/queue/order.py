"""The open reviews of a project as one person's list: filter, order, pages and counts.

A count and its list are always the same question. The order knows no clock, so a list
that is on screen stays right until an entry in the ledger says otherwise; the browser
sorts arriving rows by the same rule (`static/js/queue.js`).
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.db.models import (
    Case,
    CharField,
    Count,
    Func,
    IntegerField,
    Q,
    QuerySet,
    When,
)

from common.ids import parse_code
from reviews.models import Kind, Review, ReviewState

PAGE = 100
SHOWS = ("all", "mine", "unclaimed")
# In this order: what can destroy something comes before what only waits.
GROUPS = {
    "first": "Calls to confirm",
    "waiting": "Waiting for a decision",
    "claimed": "Claimed by others",
}
FIRST_KINDS = (Kind.CONFIRMATION, Kind.LOOP_ACTION)

_GROUP_NAMES = tuple(GROUPS)
# Written out: SQLite takes a partial index only when it sees the value, not a parameter.
_OPEN = Func(template=f"'{ReviewState.OPEN.value}'", output_field=CharField())
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where a review stands in a person's list: the group, then the longest wait."""

    group: int
    opened: int
    code: str

    def __str__(self) -> str:
        return f"{self.group}.{self.opened}.{self.code}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How many reviews are open, by the code of who claimed them: first kinds, others."""

    counts: dict[str, tuple[int, int]]

    @property
    def total(self) -> int:
        return sum(map(sum, self.counts.values()))

    @property
    def counts_json(self) -> str:
        return json.dumps(self.counts)

    def count_groups(self, *, show: str, viewer: str) -> dict[str, int]:
        """How many stand in each group of this person's list."""
        unclaimed = self.counts.get("", (0, 0)) if show != "mine" else (0, 0)
        mine = self.counts.get(viewer, (0, 0)) if show != "unclaimed" else (0, 0)
        others = [
            sum(pair) for code, pair in self.counts.items() if code not in ("", viewer)
        ]
        return {
            "first": unclaimed[0] + mine[0],
            "waiting": unclaimed[1] + mine[1],
            "claimed": sum(others) if show == "all" else 0,
        }

    def count_shown(self, *, show: str, viewer: str) -> int:
        return sum(self.count_groups(show=show, viewer=viewer).values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A part of a list, and whether there is more on either side."""

    reviews: list[Review]
    more_before: bool = False
    more_after: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """The list of one person under one filter."""

    project_id: int
    viewer_id: int
    show: str = "all"

    def list_reviews(self) -> QuerySet[Review]:
        found = list_open(project_id=self.project_id)
        if self.show == "mine":
            return found.filter(assignee_id=self.viewer_id)
        if self.show == "unclaimed":
            return found.filter(assignee_id=None)
        return found

    def get_place(self, review: Review) -> Place:
        if review.assignee_id not in (None, self.viewer_id):
            group = "claimed"
        else:
            group = "first" if review.kind in FIRST_KINDS else "waiting"
        return Place(
            _GROUP_NAMES.index(group),
            count_microseconds(review.opened_at),
            str(review.code),
        )

    def count_before(self, place: Place) -> int:
        return self._order_rows().filter(_filter_beyond(place, "lt")).count()

    def list_first(self) -> Page:
        reviews, more = self._list(self._order_rows())
        return Page(reviews=reviews, more_after=more)

    def list_after(self, place: Place) -> Page:
        reviews, more = self._list(
            self._order_rows().filter(_filter_beyond(place, "gt"))
        )
        return Page(reviews=reviews, more_before=True, more_after=more)

    def list_before(self, place: Place) -> Page:
        found = self._order_rows().filter(_filter_beyond(place, "lt")).reverse()
        reviews, more = self._list(found)
        return Page(reviews=reviews[::-1], more_before=more, more_after=True)

    def list_around(self, review: Review | None) -> Page:
        """The beginning of the list, or the part of it where this review stands."""
        page = self.list_first()
        if review is None or review.pk in {item.pk for item in page.reviews}:
            return page
        if not self.list_reviews().filter(pk=review.pk).exists():
            return page
        place = self.get_place(review)
        half = PAGE // 2
        before, after = self.list_before(place), self.list_after(place)
        return Page(
            reviews=[*before.reviews[-half:], review, *after.reviews[:half]],
            more_before=before.more_before or len(before.reviews) > half,
            more_after=after.more_after or len(after.reviews) > half,
        )

    def _order_rows(self) -> QuerySet[Review]:
        claimed = Q(assignee_id__isnull=False) & ~Q(assignee_id=self.viewer_id)
        group = Case(
            When(claimed, then=_GROUP_NAMES.index("claimed")),
            When(kind__in=FIRST_KINDS, then=_GROUP_NAMES.index("first")),
            default=_GROUP_NAMES.index("waiting"),
            output_field=IntegerField(),
        )
        return (
            self.list_reviews()
            .annotate(group=group)
            .order_by("group", "opened_at", "code")
        )

    def _list(self, found: QuerySet[Review]) -> tuple[list[Review], bool]:
        """Sorted by the index alone; then only the rows of the page are read."""
        codes = list(found.values_list("code", flat=True)[: PAGE + 1])
        rows = load_reviews().in_bulk(codes[:PAGE], field_name="code")
        return [rows[code] for code in codes[:PAGE] if code in rows], len(codes) > PAGE


def parse_place(text: str) -> Place | None:
    """The place in its one spelling, or None."""
    group, _, rest = text.partition(".")
    opened, _, code = rest.partition(".")
    known = (
        len(group) == 1
        and group in "012"
        and opened.isascii()
        and opened.isdigit()
        and len(opened) <= 16
        and parse_code(code) is not None
    )
    return Place(int(group), int(opened), code) if known else None


def count_microseconds(moment: datetime) -> int:
    """Since 1970: exact, and still a number that JavaScript holds exactly."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def list_open(*, project_id: int) -> QuerySet[Review]:
    return Review.objects.filter(project_id=project_id, state=_OPEN)


def load_reviews() -> QuerySet[Review]:
    """With all that a row shows."""
    return Review.objects.select_related("run__agent", "assignee").defer("run__memory")


def list_reviews(*, project_id: int, codes: Collection[str]) -> list[Review]:
    """These reviews, open or closed."""
    known = [UUID(code) for code in codes]
    return list(load_reviews().filter(project_id=project_id, code__in=known))


def count_reviews(*, project_id: int) -> Tally:
    column = Case(
        When(kind__in=FIRST_KINDS, then=0), default=1, output_field=IntegerField()
    )
    rows = (
        list_open(project_id=project_id)
        .annotate(column=column)
        .values_list("assignee__code", "column")
        .annotate(count=Count("*"))
        .order_by()
    )
    counts: dict[str, tuple[int, int]] = {}
    for assignee, is_other, count in rows:
        code = str(assignee or "")
        first, others = counts.get(code, (0, 0))
        counts[code] = (first, others + count) if is_other else (first + count, others)
    return Tally(counts=counts)


def _filter_beyond(place: Place, side: str) -> Q:
    """What stands on one side of a place: `lt` before it, `gt` after it."""
    opened_at = _EPOCH + timedelta(microseconds=place.opened)
    same_group = Q(group=place.group)
    return (
        Q(**{f"group__{side}": place.group})
        | same_group & Q(**{f"opened_at__{side}": opened_at})
        | same_group & Q(opened_at=opened_at, **{f"code__{side}": UUID(place.code)})
    )
