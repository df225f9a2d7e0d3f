"""Figures of a crowded project: each read leaves out what is near to it and not meant.

Each row counts another power of two, so a sum tells which rows are in it.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from accounts.models import SYSTEM_SETTINGS, Agent, Project
from ledger.models import PeriodCount, PeriodTotals, Run
from ledger.statistics.periods import Scope
from ledger.statistics.selectors import (
    read_count_series,
    read_counts,
    read_series,
    read_spend,
    read_totals,
    read_totals_by,
    read_totals_by_label,
)
from tests.support.builders import make_policy, make_project, make_robot, start_run

SINCE = datetime(2026, 11, 10, 10, tzinfo=UTC)
UNTIL = datetime(2026, 11, 12, 12, tzinfo=UTC)
# Each of the rows of one moment differs from the first in one column alone.
CHANGES: list[dict[str, Any]] = [
    {},
    {"agent": "other"},
    {"model": "small"},
    {"intent": "bug-fix"},
    {"policy": "default@2"},
]
_GROUPS: tuple[Any, ...] = ("agent", "model", "intent", "policy")


def find_agent(project: Project, name: str) -> Agent:
    found = Agent.objects.filter(project=project, name=name).first()
    if found is None:
        make_robot(name, project=project)
    return Agent.objects.get(project=project, name=name)


def build_row(project: Project, at: datetime, **changes: Any) -> dict[str, Any]:
    row = {
        "agent": "robo",
        "model": "big",
        "intent": "docs",
        "policy": "default@1",
        "interval": "hour",
        **changes,
    }
    agent = find_agent(project, row.pop("agent"))
    return {"project": project, "at": at, "agent": agent, **row}


def add_totals(
    project: Project, at: datetime, *, cost: int = 0, tokens: int = 0, **more: Any
) -> None:
    steps = more.pop("steps", 0)
    PeriodTotals.objects.create(
        **build_row(project, at, **more), steps=steps, cost_micros=cost, tokens=tokens
    )


def add_count(
    project: Project, at: datetime, key: str, count: int, **more: Any
) -> None:
    kind = more.pop("kind", "finding")
    row = build_row(project, at, **more)
    PeriodCount.objects.create(**row, kind=kind, key=key, count=count)


def scope_of(project: Project, **more: Any) -> Scope:
    return Scope(project_id=project.pk, since=SINCE, until=UNTIL, **more)


@pytest.fixture
def crowded(project: Project) -> Project:
    """A row at each edge of the period, on both sides, and what is never meant with it."""
    day = SINCE.replace(hour=0)
    hours = [
        SINCE,
        day + timedelta(hours=23),
        day + timedelta(days=2),
        UNTIL - timedelta(hours=1),
    ]
    for place, at in enumerate(hours):
        add_totals(project, at, steps=2**place)
    add_totals(project, day + timedelta(days=1), interval="day", steps=16)
    # Near, and not in it: before, behind, days that are cut, and an hour of a whole day.
    for at, interval in (
        (SINCE - timedelta(hours=1), "hour"),
        (UNTIL, "hour"),
        (day, "day"),
        (day + timedelta(days=2), "day"),
        (day + timedelta(days=1, hours=5), "hour"),
    ):
        add_totals(project, at, interval=interval, steps=1_000)
    label: dict[str, Any] = {"label_name": "repo", "label_value": "shop"}
    add_totals(project, SINCE, **label, steps=32)
    add_totals(project, SINCE, label_name="repo", label_value="site", steps=64)
    add_totals(project, SINCE, label_name="team", label_value="shop", steps=128)
    other = make_project()
    add_totals(other, SINCE, steps=1_000)
    add_totals(other, SINCE, **label, steps=1_000)
    return project


def test_a_sum_has_what_lies_in_the_period_and_nothing_twice(crowded: Project) -> None:
    assert read_totals(scope=scope_of(crowded)).steps == 1 + 2 + 4 + 8 + 16


def test_a_label_is_a_name_and_a_value(crowded: Project) -> None:
    assert read_totals(scope=scope_of(crowded, label=("repo", "shop"))).steps == 32
    assert read_totals(scope=scope_of(crowded, label=("repo", "gone"))).steps == 0
    found = read_totals_by_label(scope=scope_of(crowded), name="repo")
    assert {name: each.steps for name, each in found.items()} == {
        "shop": 32,
        "site": 64,
    }


def test_a_series_has_each_figure_in_its_own_hour_or_day(crowded: Project) -> None:
    days = read_series(scope=scope_of(crowded), interval="day")
    assert [(each.at.day, each.totals.steps) for each in days] == [
        (10, 1 + 2),
        (11, 16),
        (12, 4 + 8),
    ]
    hours = read_series(scope=scope_of(crowded), interval="hour")
    assert len(hours) == 50
    assert {each.at: each.totals.steps for each in hours if each.totals.steps} == {
        SINCE: 1,
        SINCE.replace(hour=23): 2,
        SINCE.replace(day=11, hour=5): 1_000,
        SINCE.replace(day=12, hour=0): 4,
        SINCE.replace(day=12, hour=11): 8,
    }


def test_each_column_chooses_by_itself(project: Project) -> None:
    for place, change in enumerate(CHANGES):
        add_totals(project, SINCE, steps=2**place, **change)
        add_count(project, SINCE, "rework", 2**place, **change)

    def read(**chosen: str) -> int:
        scope = scope_of(project, **chosen)
        steps = read_totals(scope=scope).steps
        assert read_counts(scope=scope, kind="finding") == {"rework": steps}
        return steps

    assert read() == 31
    assert read(agent="robo") == 31 - 2
    assert read(model="big") == 31 - 4
    assert read(intent="docs") == 31 - 8
    assert read(policy="default@1") == 31 - 16
    assert read(agent="robo", model="big", intent="docs", policy="default@1") == 1
    by = {name: read_totals_by(scope=scope_of(project), by=name) for name in _GROUPS}
    assert {
        name: {key: each.steps for key, each in found.items()}
        for name, found in by.items()
    } == {
        "agent": {"robo": 29, "other": 2},
        "model": {"big": 27, "small": 4},
        "intent": {"docs": 23, "bug-fix": 8},
        "policy": {"default@1": 15, "default@2": 16},
    }


def test_counts_are_of_one_kind_the_most_frequent_first(project: Project) -> None:
    for key, count in (("pace", 3), ("drift", 5), ("rework", 3), ("coherence", 3)):
        add_count(project, SINCE, key, count)
    add_count(project, SINCE + timedelta(hours=1), "rework", 1)
    add_count(project, SINCE, "gone", 9, kind="rule_asked")
    add_count(make_project(), SINCE, "drift", 9)
    found = read_counts(scope=scope_of(project), kind="finding")
    assert [*found.items()] == [
        ("drift", 5),
        ("rework", 4),
        ("coherence", 3),
        ("pace", 3),
    ]
    series = read_count_series(scope=scope_of(project), kind="finding", interval="hour")
    assert series[0].counts == {"pace": 3, "drift": 5, "rework": 3, "coherence": 3}
    assert series[1].counts == {"rework": 1}
    assert series[2].counts == {}


def test_of_equal_cost_tokens_tell_and_then_the_name(project: Project) -> None:
    for name, cost, tokens in (
        ("b", 5, 7),
        ("d", 5, 9),
        ("c", 8, 1),
        ("a", 5, 7),
        ("e", 1, 99),
    ):
        add_totals(project, SINCE, model=name, cost=cost, tokens=tokens)
    spent = read_spend(scope=scope_of(project), by="model")
    assert [each.key for each in spent] == ["c", "d", "a", "b", "e"]
    few = read_spend(scope=scope_of(project), by="model", limit=3)
    assert [each.key for each in few] == ["c", "d", "a"]


def test_days_stand_in_their_order_whatever_they_cost(project: Project) -> None:
    for hour, cost in ((0, 1), (20, 9), (30, 4)):
        add_totals(project, SINCE + timedelta(hours=hour), cost=cost)
    add_totals(project, SINCE.replace(day=11, hour=0), interval="day", cost=9)
    spent = read_spend(scope=scope_of(project), by="day")
    assert [(each.key, each.cost_micros) for each in spent] == [
        ("2026-11-10", 1),
        ("2026-11-11", 9),
        ("2026-11-12", 0),
    ]


def spend(
    run: str, *, cost: int, tokens: int, at: datetime = SINCE, **more: Any
) -> str:
    changed = Run.objects.filter(code=run).update(
        created_at=at, cost_micros_used=cost, tokens_used=tokens, **more
    )
    assert changed == 1
    return run


def test_runs_are_those_that_began_in_the_period_the_most_expensive_first(
    agent: httpx.Client, project: Project
) -> None:
    cheap = spend(start_run(agent), cost=1, tokens=99)
    first = spend(start_run(agent), cost=5, tokens=7)
    second = spend(start_run(agent), cost=5, tokens=7)
    more = spend(start_run(agent), cost=5, tokens=8)
    last = spend(
        start_run(agent), cost=0, tokens=0, at=UNTIL - timedelta(milliseconds=1)
    )
    spend(start_run(agent), cost=50, tokens=1, at=SINCE - timedelta(milliseconds=1))
    spend(start_run(agent), cost=50, tokens=1, at=UNTIL)
    spend(start_run(agent), cost=50, tokens=1, intent=SYSTEM_SETTINGS)
    found = [each.key for each in read_spend(scope=scope_of(project), by="run")]
    assert found == [more, second, first, cheap, last]
    few = read_spend(scope=scope_of(project), by="run", limit=2)
    assert [each.key for each in few] == [more, second]
    assert read_spend(scope=scope_of(make_project()), by="run") == []


def test_each_column_chooses_runs_by_itself(
    agent: httpx.Client, project: Project
) -> None:
    make_policy("other", project=project)
    labels = {"repo": "shop", "team": "red"}
    runs = [
        spend(start_run(agent, model="big", labels=labels), cost=9, tokens=1),
        spend(start_run(agent, model="small", labels=labels), cost=8, tokens=1),
        spend(
            start_run(agent, model="big", labels=labels, intent="docs"),
            cost=7,
            tokens=1,
        ),
        spend(
            start_run(agent, model="big", labels={"repo": "red", "team": "shop"}),
            cost=6,
            tokens=1,
        ),
        spend(
            start_run(agent, model="big", labels=labels, policy="other"),
            cost=5,
            tokens=1,
        ),
        spend(
            start_run(agent, model="big", labels=labels),
            cost=4,
            tokens=1,
            agent=find_agent(project, "other"),
        ),
    ]

    def find(**chosen: Any) -> set[int]:
        """The places of those that are left out."""
        found = read_spend(scope=scope_of(project, **chosen), by="run")
        return {*range(len(runs))} - {runs.index(each.key) for each in found}

    assert find() == set()
    assert find(model="big") == {1}
    assert find(intent="general") == {2}
    assert find(label=("repo", "shop")) == {3}
    assert find(policy="default@1") == {4}
    assert find(policy="default@2") == {0, 1, 2, 3, 4, 5}
    assert find(agent="robo") == {5}
