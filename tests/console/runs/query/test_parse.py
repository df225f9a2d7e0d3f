"""The query of the run list: what each word means, and what is refused in which words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.query.tokens import cut_tokens
from console.runs.query.fields import FIELDS
from console.runs.query.parse import build_filter, parse_query
from ledger.run_list.filter import EVERY_RUN, Bound, RunFilter

NOW = datetime(2026, 11, 17, 14, 32, tzinfo=UTC)
DAY = timedelta(days=1)
RUN = "01900000-0000-7000-8000-000000000000"

pytestmark = pytest.mark.once("reads a line of text: no database")


def read(line: str) -> RunFilter:
    query = parse_query(line)
    assert query.errors == ()
    return build_filter(query, now=NOW)


def test_every_word_narrows_the_filter() -> None:
    assert read("") == read("   ") == EVERY_RUN
    assert read("agent:a,b agent:c") == RunFilter(agents=("a", "b", "c"))
    assert read("status:failed,Stopped").statuses == ("failed", "stopped")
    assert read("status:active,running").statuses == ("running", "paused")
    assert len(read("status:final").statuses) == 4
    assert read("label:repo=shop,team label:a=").labels == (
        (("repo", "shop"), ("team", None)),
        (("a", ""),),
    )
    assert read("model:m intent:bug-fix policy:default@3,x") == RunFilter(
        models=("m",), intents=("bug-fix",), policies=(("default", 3), ("x", None))
    )
    assert read("accepted:no,unknown").accepted == (False, None)
    assert read(f"parent:{RUN} depth:0,2") == RunFilter(
        parents=(UUID(RUN),), depths=(0, 2)
    )
    assert read('fix "the login" "agent:x"').texts == ("fix", "the login", "agent:x")


def test_figures_are_compared() -> None:
    assert read("cost>5 cost<=$7.25").bounds == (
        Bound(figure="cost", operator=">", value=5_000_000),
        Bound(figure="cost", operator="<=", value=7_250_000),
    )
    assert read("tokens>100k").bounds[0].value == 100_000
    assert read("tokens<1.5M").bounds[0].value == 1_500_000
    assert read("steps=3").bounds[0].operator == "="
    assert read("time>=2h").bounds[0].value == 7_200_000
    assert read("time<5").bounds[0].value == 300_000, "minutes"


def test_times_are_told_from_now_or_by_the_calendar() -> None:
    today = datetime(2026, 11, 17, tzinfo=UTC)
    assert read("since:7d").since == NOW - 7 * DAY
    assert read("since:90m").since == NOW - timedelta(minutes=90)
    assert read("since:today").since == today
    assert read("since:yesterday until:yesterday") == RunFilter(
        since=today - DAY, until=today
    )
    assert read("since:2026-11-01").since == datetime(2026, 11, 1, tzinfo=UTC)
    assert read("until:2026-11-01").until == datetime(2026, 11, 2, tzinfo=UTC)
    assert read("since:2026-11-01T10:00+02:00").since == datetime(
        2026, 11, 1, 8, tzinfo=UTC
    )
    assert read("until:2w").until == NOW - 14 * DAY


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("colour:red", ("“colour:red”", "no “colour” to filter by", "agent, status")),
        ("status:open", ("“open”", "running, paused, stopped")),
        ("intent:none", ("“none”", "bug-fix")),
        ("accepted:maybe", ("yes, no, unknown",)),
        ("cost:5", ("compared, as in cost>5",)),
        ("cost>much", ("“much”", "dollars")),
        ("tokens>0.5", ("“0.5”",)),
        ("tokens>$5", ("“$5”",)),
        ("steps>99999999999999999999", ("value of steps",)),
        ("agent>5", ("takes a colon, as in agent:robo",)),
        ("agent:", ("nothing is no value of agent",)),
        ("agent:a,,b", ("nothing is no value of agent",)),
        ("label:=x", ("name=value",)),
        ("since:soon", ("“soon”", "7d, 24h")),
        ("since:2026-13-01", ("2026-13-01",)),
        ("since:9999-12-31", ("9999-12-31",)),
        ("since:2026-11-01T10:00", ("2026-11-01T10:00",)),
        ("since:1d since:2d", ("“since” is said twice",)),
        ("since:1d,2d", ("takes one value",)),
        ("cost>1,2", ("takes one value",)),
        ("parent:r-51c0aa", ("the whole id",)),
        ("policy:default@x", ("name@version",)),
        ('fix "the login', ("not closed",)),
        ('""', ("nothing between",)),
        ("x" * 501, ("at most 500",)),
        ("agent:" + ",".join("a" * 51), ("at most 50",)),
    ],
)
def test_what_is_not_understood_is_named(line: str, words: tuple[str, ...]) -> None:
    (error,) = parse_query(line).errors
    for each in words:
        assert each in error


def test_what_is_understood_counts_beside_what_is_not() -> None:
    query = parse_query("agent:a colour:red status:failed")
    assert str(query) == "agent:a status:failed"
    assert len(query.errors) == 1


def test_a_term_is_taken_out_of_the_line() -> None:
    query = parse_query('agent:a,"b c"  cost>5   "two words" x')
    assert str(query) == 'agent:a,"b c" cost>5 "two words" x'
    assert str(query.without(0)) == 'cost>5 "two words" x'
    assert str(query.without(2)) == 'agent:a,"b c" cost>5 x'


PIECES = st.sampled_from(
    [
        *(f"{name}{sign}" for name in FIELDS for sign in (":", ">", "<=")),
        *('"', ",", " ", "a", "7d", "5", "failed", "repo=shop", "no", "x:y", "="),
        *("today", "ä", "\t"),
    ]
)
LINES = st.lists(PIECES, max_size=12).map("".join) | st.text(max_size=60)


@given(LINES)
def test_no_line_breaks_the_reader_and_its_own_words_read_the_same(line: str) -> None:
    query = parse_query(line)
    build_filter(query, now=NOW)
    again = parse_query(str(query))
    assert again.errors == ()
    assert again.terms == query.terms


@given(LINES)
def test_every_word_is_a_term_or_an_error(line: str) -> None:
    query = parse_query(line)
    tokens, fault = cut_tokens(line)
    assert len(query.terms) + len(query.errors) == len(tokens) + bool(fault)
    assert bool(tokens) == bool(line.strip())
