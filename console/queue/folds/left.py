"""After a ruling: how many more wait that are just like it, and the way to all of them."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from reviews.models import Review
from reviews.queue.filters import list_open
from reviews.queue.folds import is_foldable


@dataclass(frozen=True, slots=True, kw_only=True)
class AlikeLeft:
    """`url` lists them, each ticked."""

    count: int
    url: str

    @property
    def text(self) -> str:
        return (
            "1 more waits just like this"
            if self.count == 1
            else f"{self.count} more wait just like this"
        )


def count_alike_left(review: Review, *, slug: str) -> AlikeLeft | None:
    """Beside the review itself; None where none is left."""
    if not is_foldable(review):
        return None
    alike = list_open(project_id=review.project_id).filter(alike_key=review.alike_key)
    count = alike.exclude(pk=review.pk).count()
    if not count:
        return None
    query = urlencode({"q": f"like:{review.alike_key}", "pick": "all"})
    return AlikeLeft(
        count=count, url=f"{reverse('console:queue', args=[slug])}?{query}"
    )
