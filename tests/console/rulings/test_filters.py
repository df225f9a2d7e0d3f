"""What the page asks for, read from its address: each part by itself, and nothing more."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from urllib.parse import parse_qsl

import pytest
from django.http import QueryDict

from console.rulings.filters import (
    LABELS,
    PageFilters,
    change,
    choose,
    find_since,
    list_pills,
    read_filters,
)
from reviews.past_rulings.filters import RulingSearch

AT = datetime(2026, 3, 31, 22, 15, 30, 5, tzinfo=UTC)
NOTHING = RulingSearch(project_id=1)


def build_search(query: str) -> RulingSearch:
    """Of all time, unless the query says otherwise."""
    filters = read_filters(QueryDict(f"{query}&period=all"))
    return filters.build_search(project_id=1, at=AT)


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("by=bob&by=al", {"by": ("bob", "al")}),
        ("action=deny&action=bless", {"actions": ("deny",)}),
        ("kind=pause", {"kinds": ("pause",)}),
        ("severity=low", {"severities": ("low",)}),
        ("agent=robo", {"agents": ("robo",)}),
        ("rule=delete-*", {"rules": ("delete-*",)}),
        ("alike=a1", {"alike_keys": ("a1",)}),
        ("outcome=good&outcome=better", {"outcomes": ("good",)}),
        ("label=repo:a:b&label=team:x", {"label": ("repo", "a:b")}),
        ("label=:x", {}),
        ("faster_than_ms=3000", {"faster_than_ms": 3_000}),
        ("faster_than_ms=0", {}),
        ("faster_than_ms=%C2%B2", {}),
        ("regretted=true", {"regretted": True}),
        # Both kinds are in the list where nobody asks for the regretted ones.
        ("regretted=false", {"regretted": None}),
        ("", {"regretted": None}),
        ("q=+src+", {"text": "src"}),
        ("cursor=1", {}),
    ],
)
def test_each_part_of_the_address_asks_for_one_thing(
    query: str, asked: dict[str, Any]
) -> None:
    wanted = {name: getattr(NOTHING, name) for name in NOTHING.__slots__} | asked
    assert build_search(query) == RulingSearch(**wanted)


@pytest.mark.parametrize(
    ("period", "since"),
    [
        ("24h", AT - timedelta(days=1)),
        ("7d", AT - timedelta(days=7)),
        ("30d", AT - timedelta(days=30)),
        ("90d", AT - timedelta(days=90)),
        ("month", datetime(2026, 3, 1, tzinfo=UTC)),
        ("all", None),
    ],
)
def test_a_period_goes_back_from_now(period: str, since: datetime | None) -> None:
    assert find_since(period, AT) == since


@pytest.mark.parametrize("day", [1, 2, 28, 31])
def test_a_month_begins_with_its_first_day_in_utc(day: int) -> None:
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    assert find_since("month", datetime(2026, 1, day, tzinfo=UTC)) == begin
    # There it is the month before still, or already the next one.
    west, east = timezone(timedelta(hours=-8)), timezone(timedelta(hours=8))
    assert find_since("month", begin.astimezone(west)) == begin
    late = datetime(2026, 1, 31, 20, tzinfo=UTC)
    assert find_since("month", late.astimezone(east)) == begin


ALL = PageFilters(
    chosen={name: ("pause",) if name == "kind" else ("x",) for name in LABELS},
    period="month",
    faster_than_ms=3_000,
    regretted=True,
    text="src",
    sort="slowest",
)


def test_what_is_asked_for_comes_back_from_the_address() -> None:
    known = change(
        ALL,
        chosen={
            **ALL.chosen,
            "action": ("deny", "abort"),
            "severity": ("low",),
            "outcome": ("good",),
            "label": ("repo:shop",),
        },
    )
    read = read_filters(QueryDict(known.build_query(cursor="1").removeprefix("?")))
    assert read == known
    assert read_filters(QueryDict("")) == PageFilters()
    assert PageFilters().build_pairs() == []


def test_the_file_has_a_moment_in_place_of_the_period() -> None:
    query = parse_qsl(ALL.build_export_query(slug="shop", at=AT))
    pairs = [pair for pair in ALL.build_pairs() if pair[0] != "period"]
    since = ("since", "2026-03-01T00:00:00.000000Z")
    assert query == [("project", "shop"), *pairs, since]
    ever = change(ALL, period="all").build_export_query(slug="shop", at=AT)
    assert parse_qsl(ever) == [("project", "shop"), *pairs]


def test_each_pill_leaves_out_itself_alone() -> None:
    both = choose(ALL, "by", "x")
    both = change(both, chosen={**both.chosen, "by": ("x", "y")})
    pairs = both.build_pairs()
    gone = [
        [pair for pair in pairs if pair not in parse_qsl(pill.without[1:])]
        for pill in list_pills(both)
    ]
    kept = ("period", "sort")
    assert gone == [[pair] for pair in _sort_like_pills(pairs) if pair[0] not in kept]


def _sort_like_pills(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    order = [*LABELS, "faster_than_ms", "regretted", "q"]
    return sorted(
        (pair for pair in pairs if pair[0] in order),
        key=lambda pair: order.index(pair[0]),
    )


@pytest.mark.parametrize(
    ("changes", "narrows"),
    [
        ({}, False),
        ({"period": "7d", "sort": "oldest"}, False),
        ({"chosen": {"by": ("x",)}}, True),
        ({"faster_than_ms": 1}, True),
        ({"regretted": True}, True),
        ({"text": "x"}, True),
    ],
)
def test_period_and_order_narrow_nothing(
    changes: dict[str, Any], narrows: bool
) -> None:
    assert PageFilters(**changes).narrows is narrows
