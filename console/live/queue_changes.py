"""What happened to reviews, as rows for every list on screen.

They are those of the usual list: everything that is open, risky first, with what is alike
folded. A list that shows something else takes what it can and fetches the rest itself.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from django.http import QueryDict

from console.queue import fragments
from console.queue.address import read_state
from console.queue.folds.groups import build_list_rows
from reviews.models import Review, ReviewState
from reviews.queue.folds import find_folds, is_foldable
from reviews.queue.order import Queue, list_reviews

NOBODY = 0


def render_changes(
    touched: Collection[Review],
    *,
    project_id: int,
    slug: str,
    at: datetime,
    seq: int,
) -> list[str]:
    """Rows that are new or changed, and those that are gone. Of what is alike, one row for
    all; or each that is left, where one that is gone leaves too few to be folded."""
    queue = Queue(project_id=project_id, viewer_id=NOBODY, at=at)
    keys = {review.alike_key for review in touched if is_foldable(review)}
    folds = find_folds(queue.list_reviews(), sort=queue.sort, keys=keys)
    gone = {r.alike_key for r in touched if is_foldable(r) and not _is_listed(r)}
    loose = gone - folds.by_key.keys()
    codes = {str(fold.first) for fold in folds}
    codes.update(
        str(review.code)
        for review in touched
        if _is_listed(review) and folds.get(review) is None
    )
    codes.update(map(str, _list_open_codes(queue, loose)))
    loaded = [review for review in touched if str(review.code) in codes]
    if missing := codes - {str(review.code) for review in loaded}:
        loaded += list_reviews(project_id=project_id, codes=missing)
    shown = build_list_rows(
        queue.with_folds(folds),
        [review for review in loaded if _is_listed(review)],
        state=read_state(QueryDict()),
        slug=slug,
        at=at,
        seq=seq,
    )
    return [
        *(fragments.render_fold_removal(key, seq=seq) for key in sorted(loose)),
        *map(fragments.render_list_row, shown),
        *(
            fragments.render_removal(review.code, seq=seq)
            for review in touched
            if not _is_listed(review)
        ),
    ]


def _is_listed(review: Review) -> bool:
    return review.state == ReviewState.OPEN and review.snoozed_until is None


def _list_open_codes(queue: Queue, keys: Collection[str]) -> list[object]:
    if not keys:
        return []
    alike = queue.list_reviews().filter(alike_key__in=keys)
    return list(alike.values_list("code", flat=True))
