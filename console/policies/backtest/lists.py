"""The lists of a backtest: the decisions that its numbers count, a page at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Case, IntegerField, QuerySet, Value, When
from django.http import QueryDict

from console.policies.backtest.items import ItemRow, build_item_rows, format_decision
from console.policies.backtest.words import Link
from reviews.models import Backtest, BacktestItem
from reviews.policies.backtest.people import DISAGREE
from reviews.policies.backtest.selectors import list_items, list_unknown
from reviews.policies.backtest.unchanged import JudgedItems, UnchangedItems
from safetext import make_visible_line

ITEMS = 50
ANY = "any"
UNKNOWN = "unknown"
JUDGED = "judged"
FILTERS = ("kind", "gate", "rule", "move", "asks", "people", "ruling", UNKNOWN, JUDGED)
Items = QuerySet[BacktestItem] | Sequence[BacktestItem]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownItems:
    """`first` and `last` are the numbers of what is on this page of it, `order` is what
    comes first, and `empty` what is said where there is nothing."""

    title: str
    tabs: tuple[tuple[str, str, bool], ...]
    rows: tuple[ItemRow, ...]
    unknown: bool
    total: str
    first: str
    last: str
    order: str
    empty: str
    previous: str
    next: str


def read_filters(query: QueryDict) -> dict[str, str]:
    given = {name: query.get(name, "") for name in FILTERS}
    return {name: value for name, value in given.items() if value.strip()}


def list_chosen(
    backtest: Backtest, chosen: Mapping[str, str], *, newest: int | None = None
) -> Items:
    """The decisions that the filters ask for; none that came in behind `newest`."""
    kept = {} if newest is None else {"pk__lte": newest}
    if UNKNOWN in chosen:
        reason = chosen[UNKNOWN]
        rows = list_unknown(backtest, reason=None if reason == ANY else reason)
        return rows.filter(**kept).order_by("-at", "-pk")
    if JUDGED in chosen:
        changed = _list_changed(backtest, {}).filter(**kept)
        return JudgedItems(changed, UnchangedItems(backtest))
    decision = _find_unchanged(chosen)
    if decision:
        kind = chosen.get("kind", "")
        return UnchangedItems(backtest, kind=kind, decision=decision)
    return _list_changed(backtest, chosen).filter(**kept)


def _list_changed(
    backtest: Backtest, chosen: Mapping[str, str]
) -> QuerySet[BacktestItem]:
    """What people disagree with comes first, then the newest."""
    first = Case(
        When(people=DISAGREE, then=Value(0)),
        default=Value(1),
        output_field=IntegerField(),
    )
    return list_items(backtest, **chosen).order_by(first, "-at", "-pk")


def _find_unchanged(chosen: Mapping[str, str]) -> str:
    """The decision that both make, if the filters ask for those."""
    before, _, after = chosen.get("move", "").partition("→")
    return before if before == after else ""


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

    def build_page_address(to: int) -> str:
        return link(**chosen, page=str(to))

    title, order = _name_list(chosen)
    return ShownItems(
        title=title,
        tabs=_build_tabs(result, link, chosen),
        rows=build_item_rows(page, slug),
        unknown=UNKNOWN in chosen,
        total=f"{pages.count:,}",
        first=f"{page.start_index():,}",
        last=f"{page.end_index():,}",
        order=order,
        empty=_describe_empty(backtest, result, chosen),
        previous=build_page_address(page.number - 1) if page.has_previous() else "",
        next=build_page_address(page.number + 1) if page.has_next() else "",
    )


def _name_list(chosen: Mapping[str, str]) -> tuple[str, str]:
    """What it is a list of, and what comes first in it."""
    if UNKNOWN in chosen:
        return "Decisions that cannot be judged", "the newest first"
    if JUDGED in chosen:
        return "Decisions judged again", "those that change first"
    if _find_unchanged(chosen):
        return "Decisions that stay the same", "the newest runs first"
    return "Decisions that change", "disagreements with people first"


def _describe_empty(
    backtest: Backtest, result: Mapping[str, Any], chosen: Mapping[str, str]
) -> str:
    if UNKNOWN in chosen:
        return "All of them could be judged."
    if JUDGED in chosen or _find_unchanged(chosen):
        kept = not result["judged"] or backtest.unchanged.exists()
        return (
            "None of them is of this kind."
            if kept
            else "This backtest did not keep them. Run it again to list them."
        )
    if result["changed"]:
        return "None of them is of this kind."
    return "No decision changes." if backtest.ended else "None so far."


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
        tabs.append((_name_chosen(chosen), link(**chosen), True))
    return tuple(tabs)


def _name_chosen(chosen: Mapping[str, str]) -> str:
    """In the words of the numbers that open such a list."""
    if JUDGED in chosen:
        return "Judged again"
    words = [
        " → ".join(map(format_decision, value.split("→"))) for value in chosen.values()
    ]
    return ", ".join(make_visible_line(word) for word in words)
