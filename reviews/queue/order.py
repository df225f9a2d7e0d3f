"""The open reviews of a project as one person's list: filter, order and pages.

A count (`reviews/queue/tally.py`) and its list are always the same question.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from ledger.run_list.scope import Scope
from reviews.models import Review, ReviewState
from reviews.queue.filters import ReviewFilter, filter_reviews
from reviews.queue.folds import MEMBERS_SHOWN, NO_FOLDS, Fold, Folds, find_folds
from reviews.queue.places import URGENCY, Place, filter_beyond, get_place, order_rows

PAGE = 100
ANY_OPEN = ReviewFilter(state=ReviewState.OPEN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A part of a list, and whether there is more on either side."""

    reviews: list[Review]
    more_before: bool = False
    more_after: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """The list of one person under one filter; `show` narrows it once more. What is
    alike is one row in it where it has `folds`."""

    project_id: int
    viewer_id: int
    show: str = "all"
    sort: str = URGENCY
    wanted: ReviewFilter = ANY_OPEN
    at: datetime = field(default_factory=timezone.now)
    folds: Folds = NO_FOLDS

    def fold(self) -> Queue:
        """The same list with what is alike folded into one row each."""
        return self.with_folds(find_folds(self.list_reviews(), sort=self.sort))

    def with_folds(self, folds: Folds) -> Queue:
        return replace(self, folds=folds)

    def list_reviews(self) -> QuerySet[Review]:
        scope = Scope(project_ids=(self.project_id,))
        found = filter_reviews(scope, self.wanted, at=self.at)
        found = found.filter(snoozed_until__isnull=self.show != "snoozed")
        if self.show == "mine":
            return found.filter(assignee_id=self.viewer_id)
        if self.show == "unclaimed":
            return found.filter(assignee_id=None)
        if self.show == "overdue":
            return found.filter(answer_by__lte=self.at)
        return found

    def get_place(self, review: Review) -> Place:
        return get_place(review, self.sort)

    def count_before(self, place: Place) -> int:
        """Those behind a row count with it."""
        rows = self.list_beyond(place, "lt").count()
        return rows + self.folds.count_behind(place)

    def list_first(self) -> Page:
        reviews, more = self._list(self.order_reviews())
        return Page(reviews=reviews, more_after=more)

    def list_after(self, place: Place) -> Page:
        reviews, more = self._list(self.list_beyond(place, "gt"))
        return Page(reviews=reviews, more_before=True, more_after=more)

    def list_before(self, place: Place) -> Page:
        reviews, more = self._list(self.list_beyond(place, "lt").reverse())
        return Page(reviews=reviews[::-1], more_before=more, more_after=True)

    def list_around(self, review: Review | None) -> Page:
        """The beginning of the list, or the part of it where this review stands."""
        page = self.list_first()
        if review is None or review.pk in {item.pk for item in page.reviews}:
            return page
        if not self.list_reviews().filter(pk=review.pk).exists():
            return page
        fold = self.folds.get(review)
        if fold is not None and fold.first != review.code:
            return self.list_around(load_reviews().get(code=fold.first))
        place = self.get_place(review)
        half = PAGE // 2
        before, after = self.list_before(place), self.list_after(place)
        return Page(
            reviews=[*before.reviews[-half:], review, *after.reviews[:half]],
            more_before=before.more_before or len(before.reviews) > half,
            more_after=after.more_after or len(after.reviews) > half,
        )

    def order_reviews(self) -> QuerySet[Review]:
        shown = self.folds.filter_shown(self.list_reviews())
        return order_rows(shown, self.sort)

    def list_members(self, fold: Fold) -> list[Review]:
        """The first of those that the fold stands for."""
        found = order_rows(self.list_reviews(), self.sort)
        alike = found.filter(alike_key=fold.key)
        codes = list(alike.values_list("code", flat=True)[:MEMBERS_SHOWN])
        return _load(codes)

    def list_beyond(self, place: Place, side: str) -> QuerySet[Review]:
        """In order, what stands on one side of a place: `lt` or `gt`."""
        return self.order_reviews().filter(filter_beyond(place, self.sort, side))

    def _list(self, found: QuerySet[Review]) -> tuple[list[Review], bool]:
        """Sorted by the index alone; then only the rows of the page are read."""
        codes = list(found.values_list("code", flat=True)[: PAGE + 1])
        return _load(codes[:PAGE]), len(codes) > PAGE


def _load(codes: Sequence[UUID]) -> list[Review]:
    rows = load_reviews().in_bulk(codes, field_name="code")
    return [rows[code] for code in codes if code in rows]


def load_reviews() -> QuerySet[Review]:
    """With all that a row shows."""
    return Review.objects.select_related("run__agent", "assignee").defer("run__memory")


def list_reviews(*, project_id: int, codes: Collection[str]) -> list[Review]:
    """These reviews, open or closed."""
    known = [UUID(code) for code in codes]
    return list(load_reviews().filter(project_id=project_id, code__in=known))
