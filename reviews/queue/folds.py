"""Reviews of a list that are alike, folded into one row each.

A fold stands where its first review stands. Critical reviews are never folded: each of
them is looked at by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import Count, F, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from guidance.core.reviews.reversibility import REVERSIBILITIES
from reviews.models import Review
from reviews.queue.places import SORTS, Place, build_place

# A few rows are read as fast as one that stands for them.
FOLD_FROM = 5
# More are listed by a filter of their own.
MEMBERS_SHOWN = 50
# Urgencies below this one are critical.
_NOT_CRITICAL = len(REVERSIBILITIES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """`first` is the review that it shows, `count` how many it stands for."""

    key: str
    count: int
    first: UUID
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Folds:
    """Those of one list, by their keys."""

    by_key: Mapping[str, Fold] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Fold]:
        return iter(self.by_key.values())

    def get(self, review: Review) -> Fold | None:
        """The fold that this review is a part of."""
        fold = self.by_key.get(review.alike_key)
        return fold if is_foldable(review) else None

    def filter_shown(self, rows: QuerySet[Review]) -> QuerySet[Review]:
        """Without those that stand behind the first of their fold."""
        if not self.by_key:
            return rows
        folded = Q(alike_key__in=list(self.by_key), urgency__gte=_NOT_CRITICAL)
        return rows.filter(~folded | Q(code__in=[fold.first for fold in self]))

    def count_behind(self, place: Place) -> int:
        """How many stand behind rows that come before this place."""
        return sum(fold.count - 1 for fold in self if fold.place < place)


NO_FOLDS = Folds()


def is_foldable(review: Review) -> bool:
    return bool(review.alike_key) and review.urgency >= _NOT_CRITICAL


def find_folds(
    rows: QuerySet[Review], *, sort: str, keys: Iterable[str] | None = None
) -> Folds:
    """Of the list with these rows, in this order; read from the index of the order alone.
    With `keys` only these are looked for."""
    found = rows.filter(urgency__gte=_NOT_CRITICAL)
    wanted = None if keys is None else [key for key in keys if key]
    if wanted == []:
        return NO_FOLDS
    found = (
        found.exclude(alike_key="")
        if wanted is None
        else found.filter(alike_key__in=wanted)
    )
    alike = [F("alike_key")]
    order = [F(column) for column in (*SORTS[sort], "code")]
    firsts = (
        found.order_by()
        .annotate(
            row=Window(RowNumber(), partition_by=alike, order_by=order),
            alike=Window(Count("code"), partition_by=alike),
        )
        .filter(row=1, alike__gte=FOLD_FROM)
        .values_list("alike_key", "alike", "code", "urgency", SORTS[sort][-1])
    )
    return Folds(
        by_key={
            key: Fold(
                key=key,
                count=count,
                first=code,
                place=build_place(sort, urgency=urgency, time=time, code=code),
            )
            for key, count, code, urgency, time in firsts
        }
    )


def list_agents(rows: QuerySet[Review], folds: Iterable[Fold]) -> dict[str, list[str]]:
    """The names of the agents that ask in each of these folds, by their keys."""
    named = (
        rows.filter(alike_key__in=[fold.key for fold in folds])
        .order_by("run__agent__name")
        .values_list("alike_key", "run__agent__name")
        .distinct()
    )
    found: dict[str, list[str]] = {}
    for key, name in named:
        found.setdefault(key, []).append(name)
    return found
