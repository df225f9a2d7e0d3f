"""What is shown as used: the rows of this scope, owner and period, and no others."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from accounts.models import Agent, Project, Role
from common.errors import Invalid
from guidance.core.policy.assignments import Assignment, Match
from guidance.core.runs.usage import Usage
from guidance.selectors import PolicyChoice
from ledger.models import Entry, Run, SharedUse
from ledger.writer import get_writer
from ledger.writer.run_writes import list_periods
from reviews.policies.chain import ChainMoved
from reviews.policies.limits import raises
from reviews.policies.limits.raises import RaiseLimit
from reviews.policies.limits.selectors import (
    PartUse,
    ScopeUse,
    list_agent_policies,
    list_agent_use,
    list_agents_with_use,
    list_limiting_policies,
    list_project_use,
    list_raises,
    list_scope_use,
)
from tests.conftest import client_for
from tests.support.builders import (
    Person,
    make_person,
    make_policy,
    make_project,
    make_robot,
    unique,
)
from tests.support.live import Live
from tests.support.problems import problem
from tests.support.rows import each_row

AT = datetime(2031, 3, 1, 0, 30, tzinfo=UTC)
DAY, MONTH = list_periods(AT)
YESTERDAY, LAST_MONTH = list_periods(AT - timedelta(hours=1))


def add_agent(project: Project) -> Agent:
    """One whose number is no project's, so that no row is of both."""
    name = unique("agent")
    make_robot(name, project=project)
    agent = Agent.objects.get(project=project, name=name)
    taken = Project.objects.filter(pk=agent.pk).exists()
    return add_agent(project) if taken else agent


@pytest.fixture
def count(database: None) -> Iterator[Any]:
    """Stores what was used, as the writer does. Nothing of these days stays: owners of one
    scope may get the number of an owner of another."""

    def store(scope: str, owner: int, period: str, **used: int) -> None:
        SharedUse.objects.create(scope=scope, owner=owner, period=period, **used)

    yield store
    periods = (DAY, MONTH, YESTERDAY, LAST_MONTH)
    SharedUse.objects.filter(period__in=periods).delete()


def test_agents_are_listed_that_have_used_something_this_day(
    project: Project, count: Any
) -> None:
    elsewhere = make_project()
    busy, other, before, idle = (add_agent(project) for _ in range(4))
    stranger = add_agent(elsewhere)
    count("agent", other.pk, DAY, tokens_extra=1)
    count("agent", busy.pk, DAY, tokens=10)
    count("agent", busy.pk, YESTERDAY, tokens=700)
    count("agent", before.pk, YESTERDAY, tokens=70)
    count("agent", stranger.pk, DAY, tokens=7)
    count("project", idle.pk, DAY, tokens=7_000)
    count("project", busy.pk, DAY, tokens=7_000)
    found = list_agents_with_use(project, at=AT)
    assert {each.pk for each in found} == {busy.pk, other.pk}

    uses = list_agent_use(project, [other, idle, busy], at=AT)
    assert [(use.agent, use.period) for use in uses] == [
        (other, DAY),
        (idle, DAY),
        (busy, DAY),
    ]
    tokens = [use.parts[0] for use in uses]
    assert [(part.extra, part.used) for part in tokens] == [(1, 0), (0, 0), (0, 10)]
    only = list_scope_use(project, "agent_day", agent=busy, at=AT)
    assert [use.agent for use in only] == [busy]
    assert list_scope_use(project, "agent_day", agent=None, at=AT) == []


def test_the_day_and_the_month_of_the_project_are_counted_apart(
    project: Project, count: Any
) -> None:
    elsewhere = make_project()
    count("project", project.pk, DAY, tokens=1, tool_calls=2, cost_micros=3)
    count("project", project.pk, MONTH, tokens=10, tool_calls_extra=5)
    for period in (YESTERDAY, LAST_MONTH):
        count("project", project.pk, period, tokens=700)
        count("project", elsewhere.pk, period, tokens=700)
    count("agent", project.pk, DAY, tokens=7_000)
    count("project", elsewhere.pk, DAY, tokens=7_000)

    def list_used(uses: list[ScopeUse]) -> list[tuple[str, str, list[int]]]:
        return [
            (use.scope, use.period, [part.used for part in use.parts]) for use in uses
        ]

    day, month = list_project_use(project, at=AT)
    assert list_used([day, month]) == [
        ("project_day", DAY, [1, 2, 3]),
        ("project_month", MONTH, [10, 0, 0]),
    ]
    assert [part.extra for part in month.parts] == [0, 5, 0]
    for each in (day, month):
        assert list_scope_use(project, each.scope, agent=None, at=AT) == [each]


def test_the_policy_for_most_runs_is_the_first_that_limits(project: Project) -> None:
    """Then by name, in whatever order they were made."""
    for name in ("zulu", "default", "mike", "alpha"):
        limits = {"agent_day": {"tokens": 5}, "project_day": {"tokens": 5}}
        make_policy(name, project=project, limits=limits)
    draft = make_policy("draft", project=make_project(), checks={"max_resets": 1})
    assert draft.project_id != project.pk
    assert list(list_limiting_policies(project)) == ["default", "alpha", "mike", "zulu"]
    Project.objects.filter(pk=project.pk).update(default_policy="mike")
    order = ["mike", "alpha", "default", "zulu"]
    assert list(list_limiting_policies(project)) == order
    days = [use for use in list_project_use(project, at=AT) if use.policy]
    assert [(use.scope, use.policy) for use in days] == [
        ("project_day", name) for name in order
    ]
    uses = list_agent_use(project, [add_agent(project)], at=AT)
    assert [use.policy for use in uses] == order


NARROW = (
    Assignment(match=Match(agent="robo", intent="docs"), policy="docs"),
    Assignment(match=Match(agent="other"), policy="theirs"),
    Assignment(match=Match(intent="testing"), policy="tests"),
)
OWN = Assignment(match=Match(agent="robo"), policy="own")
LAST = Assignment(match=Match(model="big-*"), policy="big")


@each_row(
    "assignments,choose,expected",
    [
        ((), False, {"default"}),
        ((), True, {"default", "loose"}),
        (NARROW, False, {"docs", "tests", "default"}),
        ((*NARROW, OWN, LAST), False, {"docs", "tests", "own"}),
        ((*NARROW, LAST, OWN), False, {"docs", "tests", "own", "big"}),
        ((OWN, LAST), True, {"default", "loose"}),
    ],
)
def test_an_agent_may_get_what_an_assignment_leaves_to_it(
    assignments: tuple[Assignment, ...], choose: bool, expected: set[str]
) -> None:
    choice = PolicyChoice(
        active={"default": 1, "loose": 2},
        assignments=assignments,
        default="default",
        agents_choose=choose,
    )
    assert list_agent_policies(choice, "robo") == expected


@each_row(
    "limit,used,share",
    [(None, 5, None), (0, 0, 1.0), (0, 5, 1.0), (10, 5, 0.5), (10, 0, 0.0)],
)
def test_the_share_is_what_is_used_of_the_limit(
    limit: int | None, used: int, share: float | None
) -> None:
    part = PartUse(part="tokens", limit=limit, extra=0, used=used)
    assert part.share == share


def test_the_share_of_a_scope_is_that_of_the_part_next_to_its_limit() -> None:
    parts = tuple(
        PartUse(part="tokens", limit=limit, extra=0, used=5) for limit in (10, None, 6)
    )
    use = ScopeUse(scope="x", agent=None, period="", policy=None, parts=parts)
    assert use.share == 5 / 6


def ask_for_more(
    project: Project,
    person: Person,
    *,
    agent: Agent | None = None,
    scope: str = "project_day",
    reason: str = "More",
) -> None:
    """As a raise of a limit does, whether or not there is one."""
    chain = Run.objects.filter(project=project, intent="system-policies").latest("pk")
    get_writer().perform_now(
        RaiseLimit(
            run_code=str(chain.code),
            person=person.principal,
            scope=scope,
            agent=agent,
            more=Usage(tokens=2, tool_calls=0, cost_micros=0, time_ms=0),
            reason=reason,
        )
    )


def test_what_was_given_of_something_else_leaves_room(
    project: Project, alice: Person, count: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(raises, "EXTRA_MAX", 10)
    make_policy("default", project=project, checks={"max_resets": 1})
    elsewhere, full, free = make_project(), add_agent(project), add_agent(project)
    chain = Run.objects.get(project=project, intent="system-policies")
    monkeypatch.setattr(get_writer()._committer, "_read_clock", lambda: AT)
    count("project", elsewhere.pk, DAY, tokens_extra=9)
    count("project", project.pk, YESTERDAY, tokens_extra=9)
    count("project", project.pk, MONTH, tokens_extra=9)
    count("agent", project.pk, DAY, tokens_extra=9)
    count("agent", full.pk, DAY, tokens_extra=9)
    count("agent", free.pk, YESTERDAY, tokens_extra=9)
    count("project", free.pk, DAY, tokens_extra=9)
    ask_for_more(project, alice)
    ask_for_more(project, alice, agent=free, scope="agent_day")
    for scope, agent in (("project_month", None), ("agent_day", full)):
        with pytest.raises(Invalid):
            ask_for_more(project, alice, agent=agent, scope=scope)
    rows = SharedUse.objects.filter(period__in=(DAY, MONTH), tokens_extra=2)
    given = rows.values_list("scope", "owner", "period")
    assert set(given) == {("project", project.pk, DAY), ("agent", free.pk, DAY)}
    assert chain.entries.filter(type="limit.raised").count() == 2


def test_the_newest_acts_that_gave_more_are_listed_and_no_others(
    live: Live, project: Project, alice: Person, manager: httpx.Client
) -> None:
    elsewhere = make_project()
    assert list_raises(project, limit=3) == []
    boss = make_person("boss", role=Role.MANAGER, project=elsewhere)
    for place, person in ((project, alice), (elsewhere, boss)):
        make_policy("default", project=place, checks={"max_resets": 1})
        for number in range(3):
            ask_for_more(place, person, reason=f"{place.slug} {number}")
    make_policy("default", project=project, checks={"max_resets": 2})

    found = list_raises(project, limit=9)
    assert [each.type for each in found] == ["limit.raised"] * 3
    expected = Entry.objects.filter(project=project, type="limit.raised")
    assert found == list(expected.order_by("-seq"))
    assert list_raises(project, limit=2) == found[:2]

    chain = Run.objects.get(project=project, intent="system-policies")
    aborted = manager.post(f"/runs/{chain.code}/abort", json={"reason": "Anew"})
    assert aborted.status_code == 200, aborted.text
    with pytest.raises(ChainMoved):
        ask_for_more(project, alice)
    with client_for(live, boss) as stranger:
        body = {"scope": "project_day", "tokens": 1, "reason": "x"}
        other = {**body, "project": project.slug}
        problem(stranger.post("/limits/raise", json=other), "not-found")
    assert len(list_raises(project, limit=9)) == 3
