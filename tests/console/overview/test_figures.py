"""Figures beside those of the period before, of as much time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from accounts.models import Agent, Project
from console.overview.figures import Count, read_counts, read_figures
from console.overview.period import read_period
from ledger.models import Interval, PeriodCount, PeriodTotals
from tests.support.builders import Robot

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
