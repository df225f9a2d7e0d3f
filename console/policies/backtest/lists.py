"""The lists of a backtest: the decisions that its numbers count, a page at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Case, IntegerField, QuerySet, Value, When
from django.http import QueryDict

from console.policies.backtest.items import ItemRow, build_item, format_decision
from console.policies.backtest.words import Link
from reviews.models import Backtest, BacktestItem
from reviews.policies.backtest.people import DISAGREE
from reviews.policies.backtest.selectors import list_items, list_unknown

ITEMS = 50
ANY = "any"
UNKNOWN = "unknown"
FILTERS = ("kind", "gate", "rule", "move", "asks", "people", "ruling", UNKNOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownItems:
    """`first` and `last` are the numbers of what is on this page of it."""

    tabs: tuple[tuple[str, str, bool], ...]
    rows: tuple[ItemRow, ...]
    unknown: bool
    total: int
    first: int
    last: int
    previous: str
    next: str


def read_filters(query: QueryDict) -> dict[str, str]:
    given = {name: query.get(name, "") for name in FILTERS}
    return {name: value for name, value in given.items() if value.strip()}


def list_chosen(
    backtest: Backtest, chosen: Mapping[str, str]
) -> QuerySet[BacktestItem]:
    """What people disagree with comes first."""
    if UNKNOWN in chosen:
        reason = chosen[UNKNOWN]
        rows = list_unknown(backtest, reason=None if reason == ANY else reason)
        return rows.order_by("-pk")
    first = Case(
        When(people=DISAGREE, then=Value(0)),
        default=Value(1),
        output_field=IntegerField(),
    )
    return list_items(backtest, **chosen).order_by(first, "-pk")


def build_items(
    backtest: Backtest,
    result: Mapping[str, Any],
    link: Link,
    *,
    slug: str,
    chosen: Mapping[str, str],
    number: int,
) -> ShownItems:
    """`number` is the page; one that is not there is the nearest that is."""
    pages = Paginator(list_chosen(backtest, chosen), ITEMS)
    page = pages.get_page(number)

    def turn(to: int) -> str:
        return link(**chosen, page=str(to))

    return ShownItems(
        tabs=_build_tabs(result, link, chosen),
        rows=tuple(build_item(item, slug) for item in page),
        unknown=UNKNOWN in chosen,
        total=pages.count,
        first=page.start_index(),
        last=page.end_index(),
        previous=turn(page.number - 1) if page.has_previous() else "",
        next=turn(page.number + 1) if page.has_next() else "",
    )


def _build_tabs(
    result: Mapping[str, Any], link: Link, chosen: Mapping[str, str]
) -> tuple[tuple[str, str, bool], ...]:
    people = result["agrees_with_people"]
    offered: tuple[tuple[str, dict[str, str]], ...] = (
        (f"All {result['changed']:,}", {}),
        (f"Disagree {people['disagree']:,}", {"people": "disagree"}),
        (f"Agree {people['agree']:,}", {"people": "agree"}),
        (f"Asked {result['would_have_asked']:,}", {"asks": "more"}),
        (f"Not asked {result['would_not_have_asked']:,}", {"asks": "less"}),
        (f"Unknown {result['unknown']:,}", {UNKNOWN: ANY}),
    )
    tabs = [(name, link(**query), dict(chosen) == query) for name, query in offered]
    if not any(current for _, _, current in tabs):
        tabs.append(
            (
                ", ".join(format_decision(v) for v in chosen.values()),
                link(**chosen),
                True,
            )
        )
    return tuple(tabs)
