"""Spend of a month: the pace, when the limit is reached, and the chart."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from accounts.models import Project
from console.overview.links import Links
from console.overview.needs.limits import UsedLimit
from console.overview.spend import (
    Month,
    build_spend_card,
    compute_pace,
    find_day_reached,
)
from ledger.models import SharedUse
from tests.console.charts.reading import parse_svg
from tests.support.builders import make_project

NOON = datetime(2026, 11, 17, 12, tzinfo=UTC)
LINKS = Links(slug="shop")


def spend(project: Project, dollars: dict[str, int]) -> None:
    for period, amount in dollars.items():
        SharedUse.objects.create(
            scope="project",
            owner=project.pk,
            period=period,
            cost_micros=amount * 1_000_000,
        )


def limit(dollars: int, used: int) -> UsedLimit:
    return UsedLimit(
        agent="",
        scope="project_month",
        part="cost_micros",
        used=used * 1_000_000,
        limit=dollars * 1_000_000,
    )


def test_the_pace_is_that_of_the_last_days() -> None:
    spent = {f"2026-11-{day:02d}": 10.0 for day in range(1, 17)}
    spent["2026-11-17"] = 5.0
    pace, days = compute_pace(spent, NOON)
    assert pace == pytest.approx(10)
    assert days == 7
    pace, days = compute_pace({"2026-11-17": 6.0}, NOON)
    assert pace == pytest.approx(12)
    assert days == 1
    assert compute_pace({}, NOON) == (0, 1)


def test_the_day_on_which_the_limit_is_reached() -> None:
    month = Month(name="November", days=[10.0] * 16 + [5], length=30, passed=16.5)
    assert find_day_reached(month, limit=200, pace=10) == pytest.approx(20)
    assert find_day_reached(month, limit=400, pace=10) is None
    assert find_day_reached(month, limit=100, pace=0) == 16.5
    assert find_day_reached(month, limit=200, pace=0) is None
    assert find_day_reached(month, limit=None, pace=10) is None


def test_the_card_has_the_sum_the_limit_and_the_rate(project: Project) -> None:
    spend(project, {f"2026-11-{day:02d}": 100 for day in range(1, 17)})
    spend(project, {"2026-11-17": 50, "2026-10-05": 900, "2026-11": 1650})
    card = build_spend_card(
        project_id=project.pk, at=NOON, limits=[limit(2_000, 1_650)], links=LINKS
    )
    assert (card.spent, card.limit, card.burn) == ("$1,650", "$2,000", "$4.17")
    assert card.burn_of == "over the last 7 days"
    assert card.warning == "Limit reached 20 Nov at this rate"
    assert card.plot is not None
    assert card.plot.rows[-1] == ("17 Nov", "$50.00", "$1,650")
    assert len(card.plot.rows) == 17
    drawing = str(card.plot.drawing)
    assert "limit $2,000" in drawing
    assert "October" in drawing
    days = [link.get("href", "") for link in parse_svg(drawing).iter("a")]
    assert len(days) == 17
    assert "since%3A2026-11-05+until%3A2026-11-05" in days[4]


def test_only_a_limit_of_a_months_cost_ends_a_month(project: Project) -> None:
    spend(project, {"2026-11-17": 50})
    near = [
        replace(limit(10, 3), part="tokens"),
        replace(limit(20, 3), scope="project_day"),
    ]
    card = build_spend_card(project_id=project.pk, at=NOON, limits=near, links=LINKS)
    assert (card.limit, card.warning) == ("", "")


def test_what_is_used_today_opens_the_runs_of_today(project: Project) -> None:
    today = replace(limit(10, 3), scope="project_day", agent="robo")
    card = build_spend_card(project_id=project.pk, at=NOON, limits=[today], links=LINKS)
    (row,) = card.rows
    assert row.href == "/p/shop/runs/?q=agent%3Arobo+since%3Atoday&sort=-cost"


def test_without_any_cost_it_says_so(project: Project) -> None:
    card = build_spend_card(project_id=project.pk, at=NOON, limits=[], links=LINKS)
    assert card.plot is None
    assert (card.limit, card.warning) == ("", "")


@pytest.mark.parametrize("day", [1, 2, 15, 28, 31])
def test_any_day_of_a_month_can_be_drawn(project: Project, day: int) -> None:
    at = datetime(2027, 1, day, 0, 0, 5, tzinfo=UTC)
    spend(project, {f"{at:%Y-%m-%d}": 3, f"{at - timedelta(days=31):%Y-%m-%d}": 2})
    card = build_spend_card(
        project_id=project.pk, at=at, limits=[limit(10, 3)], links=LINKS
    )
    assert card.plot is not None
    assert parse_svg(str(card.plot.drawing)) is not None


def use(agent: str, percent: int, **more: object) -> UsedLimit:
    each = UsedLimit(
        agent=agent,
        scope="agent_day" if agent else "project_day",
        part="cost_micros",
        used=percent * 10_000,
        limit=1_000_000,
    )
    return replace(each, **more)  # type: ignore[arg-type]


def test_of_the_limits_of_a_day_the_projects_comes_first_then_the_fullest(
    project: Project,
) -> None:
    limits = [
        use("b", 20),
        use("near", 10),
        use("a", 20),
        use("full", 120),
        use("", 1),
        # Neither of these is what a day may cost.
        use("tokens", 99, part="tokens"),
        use("", 99, scope="project_month"),
    ]
    card = build_spend_card(project_id=project.pk, at=NOON, limits=limits, links=LINKS)
    assert [row.name for row in card.rows] == [
        "Project, today",
        "full, today",
        "b, today",
        "a, today",
    ]
    assert [row.over for row in card.rows] == [False, True, False, False]
    assert card.limit == "$1.00"


def test_only_the_days_of_this_project_and_of_two_months_are_read(
    project: Project,
) -> None:
    spend(project, {"2026-11-01": 1, "2026-11-17": 2, "2026-10-01": 4})
    spend(project, {"2026-11-18": 1_000, "2026-09-30": 1_000, "2026-11": 1_000})
    spend(make_project(), {"2026-11-01": 1_000})
    SharedUse.objects.create(
        scope="agent", owner=project.pk, period="2026-11-01", cost_micros=10**9
    )
    card = build_spend_card(project_id=project.pk, at=NOON, limits=[], links=LINKS)
    assert card.spent == "$3.00"
    assert card.plot is not None
    assert [row for row in card.plot.rows if row[1] != "$0.00"] == [
        ("1 Nov", "$1.00", "$1.00"),
        ("17 Nov", "$2.00", "$3.00"),
    ]


def test_of_today_as_much_counts_as_is_over() -> None:
    spent = {"2026-11-17": 6.0}
    for hours, minutes, seconds in ((6, 0, 0), (5, 59, 60), (5, 30, 1_800)):
        at = datetime(2026, 11, 17, tzinfo=UTC) + timedelta(
            hours=hours, minutes=minutes, seconds=seconds
        )
        assert compute_pace(spent, at)[0] == pytest.approx(24)
    at = datetime(2026, 11, 17, 5, 59, 59, tzinfo=UTC)
    assert compute_pace(spent, at)[0] == pytest.approx(6 / (21_599 / 86_400))
