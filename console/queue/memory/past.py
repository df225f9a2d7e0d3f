"""How reviews that are just like this one were ruled lately."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.urls import reverse

from console.format import format_count
from console.rulings.filters import USUAL_PERIOD, find_since
from console.rulings.rows import RulingRow, build_ruling_row
from reviews.models import Kind, Review
from reviews.past_rulings.filters import RulingSearch, filter_rulings, list_ruling_page

SHOWN = 3
_TONES = {"approve": "go", "amend": "go", "deny": "stop", "abort": "stop"}
_SAME = {
    Kind.CONFIRMATION: "same rule, same kind of call",
    Kind.REQUEST: "same agent, same request",
    Kind.EXHAUSTED: "same agent, same gate",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRulings:
    """Of the last 30 days; `counts` are words with their colour, `url` lists them all."""

    title: str
    counts: list[tuple[str, str]]
    same: str
    rows: list[RulingRow]
    url: str
    total: int


def build_past_rulings(
    review: Review, *, slug: str, at: datetime
) -> PastRulings | None:
    """Beside its own; None where there is none. Counted from an index alone."""
    if not review.alike_key:
        return None
    search = RulingSearch(
        project_id=review.project_id,
        alike_keys=(review.alike_key,),
        since=find_since(USUAL_PERIOD, at),
        without=review.pk if review.closed_at else None,
    )
    actions = filter_rulings(search).values_list("action", flat=True)
    counts = Counter(actions)
    if not counts:
        return None
    page = list_ruling_page(search, cursor=None, limit=SHOWN)
    total = counts.total()
    query = urlencode({"alike": review.alike_key})
    return PastRulings(
        title=f"Ruled {format_count(total, 'time')} in 30 days:",
        counts=[
            (f"{count} {action}", _TONES.get(action, ""))
            for action, count in counts.most_common()
        ],
        same=_SAME.get(Kind(review.kind), "same agent, same signal"),
        rows=[build_ruling_row(fact, slug=slug, at=at) for fact in page.rows],
        url=f"{reverse('console:rulings', args=[slug])}?{query}",
        total=total,
    )
