"""What agents cost people, as three cards say it."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from accounts.models import Project
from console.overview.attention.disagreement import build_disagreement_card
from console.overview.attention.interruptions import (
    build_interruption_card,
    compute_rate,
    format_rate,
)
from console.overview.attention.not_asked import build_not_asked_card
from console.overview.endings import build_ending_card
from console.overview.figures import Count, Figures
from console.overview.links import Links
from console.overview.period import read_period
from ledger.statistics.totals import Totals
from tests.console.overview.conftest import Read, read_section, read_text
from tests.gateway.calls.calls import command, rule
from tests.reviews.floods import ask_to_run
from tests.reviews.rulings.test_bulk import read_items, rule_all
from tests.support.builders import Person, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")

PERIOD = read_period("7d", datetime(2026, 11, 17, 14, 32, tzinfo=UTC))
LINKS = Links(slug="shop")
HOUR = 3_600_000


def worked(hours: float, reviews: int) -> Totals:
    return Totals(running_ms=round(hours * HOUR), reviews_opened=reviews)


def build_figures(whole: Totals, before: Totals, *buckets: Totals) -> Figures:
    rest = [Totals()] * (PERIOD.count - len(buckets))
    return Figures(
        period=PERIOD, whole=whole, before=before, buckets=[*rest, *buckets], agents={}
    )


def test_interruptions_stand_beside_those_of_before() -> None:
    days = worked(10, 5), Totals(), worked(30, 15)
    figures = build_figures(worked(40, 20), worked(20, 20), *days)
    card = build_interruption_card(figures, links=LINKS)
    assert (card.rate, card.reviews, card.hours) == ("0.50", "20", "40 h")
    assert card.every == "2 h"
    assert card.change.words == "50 % less than 1.00"
    assert card.change.tone == "go"
    assert card.plot is not None
    # A day without work has no rate, and is no day without interruptions.
    assert card.plot.rows == (
        ("15 Nov", "5", "10 h", "0.50"),
        ("17 Nov", "15", "30 h", "0.50"),
    )


def test_too_little_work_says_nothing() -> None:
    figures = build_figures(worked(0.09, 4), worked(20, 20), worked(0.09, 4))
    card = build_interruption_card(figures, links=LINKS)
    assert (card.rate, card.every, card.plot) == ("–", "–", None)
    assert not card.is_known
    assert card.change.words == "none before to compare"


def test_agents_that_ask_nobody_are_said_to() -> None:
    card = build_interruption_card(
        build_figures(worked(3, 0), worked(3, 3)), links=LINKS
    )
    assert (card.rate, card.is_known, card.plot) == ("0", True, None)
    assert card.change.words == "100 % less than 1.00"


@pytest.mark.parametrize(
    ("rate", "words"),
    [
        (None, "–"),
        (0, "0"),
        (0.004, "0.00"),
        (5.9, "5.90"),
        (17.94, "17.9"),
        (1e3, "1,000"),
    ],
)
def test_a_rate_has_as_many_digits_as_it_needs(rate: float | None, words: str) -> None:
    assert format_rate(rate) == words
    assert compute_rate(Totals(reviews_opened=9)) is None


def test_what_needed_nobody_is_a_part_of_all_that_would_have_asked() -> None:
    counts = [Count("permission", 30, 20), Count("folded", 10, 0)]
    card = build_not_asked_card(
        build_figures(worked(1, 50), Totals()), counts, links=LINKS
    )
    assert (card.share, card.whole) == ("50 %", "80")
    assert [(row.name, row.count, row.change) for row in card.rows] == [
        ("Standing permission", "30", "+10"),
        ("Approved plan", "0", "0"),
        ("Settled by a model", "0", "0"),
        ("Ruled on with one like it", "10", "+10"),
    ]


def test_what_was_opened_before_the_period_is_not_more_than_all() -> None:
    card = build_not_asked_card(
        build_figures(worked(1, 2), Totals()), [Count("folded", 9, 0)], links=LINKS
    )
    assert (card.share, card.whole) == ("100 %", "9")


def test_nothing_that_needed_nobody() -> None:
    card = build_not_asked_card(build_figures(Totals(), Totals()), [], links=LINKS)
    assert (card.rows, card.is_asked, card.share) == ((), False, "–")


def test_each_answer_opens_the_rulings_that_it_is_made_of() -> None:
    ruled = [
        Count("confirmation:approve", 6, 9),
        Count("confirmation:amend", 1, 0),
        Count("confirmation:deny", 2, 1),
        Count("confirmation:abort", 1, 0),
        Count("pause:approve", 99, 0),
    ]
    compared = [Count("allow:refused", 1, 0), Count("deny:refused", 3, 0)]
    card = build_disagreement_card(ruled, compared, period=PERIOD, links=LINKS)
    assert (card.share, card.ruled) == ("40 %", "10 calls")
    assert card.change.words == "30 points more than before"
    assert [(part.name, part.share) for part in card.parts] == [
        ("approved as asked", "60 %"),
        ("changed", "10 %"),
        ("denied", "30 %"),
    ]
    asked = [parse_qs(urlsplit(part.href).query) for part in card.parts]
    assert [each["action"] for each in asked] == [
        *(["approve"], ["amend"], ["deny", "abort"]),
    ]
    assert {tuple(each["kind"]) for each in asked} == {("confirmation",)}
    assert (card.model_share, card.model_compared) == ("25 %", "4")
    assert [tuple(row) for row in card.model_rows] == [
        ("Model would allow, person did not", "1", "stop"),
        ("Model would deny, person approved", "0", ""),
        ("Both the same", "3", ""),
    ]


def test_the_page_has_what_happened(
    agent: httpx.Client, reviewer: httpx.Client, bob: Person, read: Read
) -> None:
    run = start_run(agent)
    rule(reviewer, command(agent, run), "approve", remember={"scope": "exact"})
    command(agent, run)
    alike = [ask_to_run(agent, f"rm -rf src/{name}") for name in "abc"]
    rule_all(reviewer, read_items(reviewer, alike), "deny", "In use.")

    page = read(bob)
    interruptions = read_text(read_section(page, "interruptions-title"))
    assert "– per agent hour" in interruptions
    assert "reviews 4" in interruptions
    assert "less than six minutes" in interruptions
    spared = read_text(read_section(page, "not-asked-title"))
    assert "60 % of 5" in spared
    assert "Standing permission 1 +1" in spared
    assert "Ruled on with one like it 2 +2" in spared
    people = read_text(read_section(page, "disagreement-title"))
    assert "75 % of 4 calls" in people
    assert "approved as asked 25 % changed 0 % denied 75 %" in people
    assert "No model’s answer to compare" in people


def test_an_empty_period_says_so(
    agent: httpx.Client, project: Project, bob: Person, read: Read
) -> None:
    start_run(agent)
    page = read(bob)
    assert "Nothing was asked in this period" in read_section(page, "not-asked-title")
    assert "Nobody ruled on a call" in read_section(page, "disagreement-title")


def test_what_is_called_the_same_is_summed_now_and_before() -> None:
    counts = [Count("ruling", 2, 5), Count("budget", 4, 0), Count("person", 3, 1)]
    card = build_ending_card(counts, period=PERIOD, links=LINKS)
    assert card.total == "9"
    first, second = card.rows
    assert (first.name, first.count, first.change) == (
        "Aborted by a person",
        "5",
        "\N{MINUS SIGN}1",
    )
    assert second.count == "4"
