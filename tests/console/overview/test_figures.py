"""Figures beside those of the period before, of as much time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from accounts.models import Agent, Project
from console.overview.figures import (
    Count,
    read_agent_spend,
    read_count_series,
    read_counts,
    read_figures,
)
from console.overview.period import read_period
from ledger.models import Interval, PeriodCount, PeriodTotals
from tests.support.builders import Robot, make_project, make_robot

HOUR = datetime(2026, 11, 17, 14, tzinfo=UTC)


@pytest.mark.parametrize(("minutes", "before"), [(0, 8), (15, 9), (45, 11)])
def test_of_the_hour_before_as_much_counts_as_has_passed_of_this_one(
    project: Project, robo: Robot, minutes: int, before: int
) -> None:
    agent = Agent.objects.get(project=project, name=robo.name)
    week = timedelta(days=7)
    for at, amount in (
        (HOUR - week - timedelta(hours=1), 8),
        (HOUR - week, 4),
        (HOUR - timedelta(hours=1), 3),
    ):
        place = {
            "project": project,
            "agent": agent,
            "interval": Interval.HOUR,
            "at": at,
        }
        PeriodTotals.objects.create(**place, runs_started=amount)
        PeriodCount.objects.create(**place, kind="ending", key="budget", count=amount)
    period = read_period("7d", HOUR + timedelta(minutes=minutes))

    figures = read_figures(project_id=project.pk, period=period)
    counts = read_counts(project_id=project.pk, period=period, kinds=["ending"])

    assert figures.whole.runs_started == 3
    assert figures.before.runs_started == before
    assert counts == {"ending": [Count("budget", 3, before)]}


def test_a_series_is_of_one_kind_of_one_project_in_the_period(
    project: Project, robo: Robot
) -> None:
    """A day is read as a whole, the hours of a day that is cut one by one."""
    here = Agent.objects.get(project=project, name=robo.name)
    elsewhere = make_project()
    there = make_robot(project=elsewhere).principal.agent_id
    today, yesterday = HOUR.replace(hour=0), HOUR.replace(day=16, hour=0)
    amounts = (1 << place for place in range(9))

    def add(at: datetime, interval: Interval, **changes: Any) -> int:
        row = {"project": project, "agent_id": here.pk, "kind": "ending", **changes}
        amount: int = next(amounts)
        PeriodCount.objects.create(
            **row, interval=interval, at=at, key="budget", count=amount
        )
        return amount

    of_today = add(today, Interval.HOUR)
    of_yesterday = add(yesterday, Interval.DAY)
    add(today, Interval.HOUR, kind="finding")
    add(yesterday, Interval.DAY, kind="finding")
    add(today, Interval.HOUR, project=elsewhere, agent_id=there)
    add(today, Interval.HOUR, label_name="repo", label_value="shop")
    add(yesterday, Interval.HOUR)
    add(HOUR.replace(day=10, hour=0), Interval.DAY)
    found = read_count_series(
        project_id=project.pk, period=read_period("7d", HOUR), kind="ending"
    )
    assert found == [0] * 5 + [of_yesterday, of_today]


def test_spend_is_that_of_the_named_agents(project: Project, robo: Robot) -> None:
    other = make_robot("other", project=project).principal.agent_id
    third = make_robot("third", project=project).principal.agent_id
    here = Agent.objects.get(project=project, name=robo.name)
    for agent_id, hours, cost in (
        (here.pk, 1, 1),
        (here.pk, 2, 2),
        (other, 1, 4),
        (third, 1, 8),
    ):
        PeriodTotals.objects.create(
            project=project,
            agent_id=agent_id,
            interval=Interval.HOUR,
            at=HOUR - timedelta(hours=hours),
            cost_micros=cost,
        )
    found = read_agent_spend(
        project_id=project.pk,
        period=read_period("24h", HOUR),
        agents=[robo.name, "other", "idle"],
    )
    assert {name: each[-3:] for name, each in found.items()} == {
        robo.name: [2, 1, 0],
        "other": [0, 4, 0],
        "idle": [0, 0, 0],
    }
