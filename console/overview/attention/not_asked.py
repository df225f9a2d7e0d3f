"""What would have been put before a person and needed none, by what answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from console.charts.bars import draw_share
from console.overview.changes import format_difference
from console.overview.figures import Count, Figures
from console.overview.headline import format_share
from console.overview.links import Links
from reviews.models import Kind
from reviews.statistics.attention import SPARED
from reviews.statistics.counts import BY_MODEL, BY_PERMISSION, BY_PLAN, FOLDED

_NAMES = {
    BY_PERMISSION: "Standing permission",
    BY_PLAN: "Approved plan",
    BY_MODEL: "Settled by a model",
    FOLDED: "Ruled on with one like it",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAskedRow:
    """`href` is empty where no list has them."""

    name: str
    count: str
    change: str
    bar: SafeString
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAskedCard:
    """`share` is of the `whole`, all that would have taken a look; `rows` are empty where
    there was nothing now or before."""

    whole: str
    share: str
    is_asked: bool
    rows: tuple[NotAskedRow, ...]
    href_permissions: str


def build_not_asked_card(
    figures: Figures, counts: Sequence[Count], *, links: Links
) -> NotAskedCard:
    found = {each.key: each for each in counts}
    rows = [found.get(name, Count(name, 0, 0)) for name in SPARED]
    total = sum(each.now for each in rows)
    # What is folded was opened, too: it is among the reviews, or those of before.
    opened = figures.whole.reviews_opened
    whole = opened + sum(each.now for each in rows if each.key != FOLDED)
    whole = max(whole, total)
    most = max(each.now for each in rows) or 1
    hrefs = {
        BY_PERMISSION: links.open_permissions(),
        BY_PLAN: links.list_rulings(period=figures.period, kind=Kind.PLAN.value),
        FOLDED: links.list_rulings(period=figures.period),
    }
    return NotAskedCard(
        whole=f"{whole:,}",
        share=format_share(total / whole if whole else None),
        is_asked=opened > 0,
        rows=tuple(
            NotAskedRow(
                name=_NAMES[each.key],
                count=f"{each.now:,}",
                change=format_difference(each.change),
                bar=draw_share(each.now / most),
                href=hrefs.get(each.key, ""),
            )
            for each in rows
        )
        if any(each.now or each.before for each in rows)
        else (),
        href_permissions=links.open_permissions(),
    )
