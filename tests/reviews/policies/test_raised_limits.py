"""A manager gives more of a limit that runs share: for a day or a month, or for good."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from django.core.management import call_command

from accounts.models import Project
from guidance.core.policy.assignments import Assignment, Match
from ledger.models import Entry, Run, SharedUse
from reviews.policies.assignments import replace_assignments
from reviews.policies.limits import raises
from tests.conftest import client_for
from tests.gateway.calls.calls import command
from tests.gateway.limits.test_swarms import servers  # noqa: F401 (a fixture)
from tests.gateway.limits.test_tree_budgets import assert_replays, report
from tests.support.builders import (
    Person,
    Robot,
    make_policy,
    make_robot,
    start_run,
)
from tests.support.live import Live
from tests.support.problems import fields, problem

REASON = {"reason": "The release has to go out"}


def raise_limit(manager: httpx.Client, **body: Any) -> dict[str, Any]:
    answer = manager.post("/limits/raise", json={**REASON, **body})
    assert answer.status_code == 200, answer.text
    raised: dict[str, Any] = answer.json()
    return raised


def list_raises(project: Project) -> list[dict[str, Any]]:
    """From the chain of policies, which is whole."""
    chain = Run.objects.get(project=project, intent="system-policies")
    call_command("ledger_verify", run=str(chain.code))
    entries = chain.entries.filter(type="limit.raised").order_by("seq")
    return [json.loads(entry.payload) for entry in entries]


def test_several_raises_together_stay_below_the_most_there_can_be(
    manager: httpx.Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(raises, "EXTRA_MAX", 10)  # a thousand raises are too many here
    body = {**REASON, "scope": "project_day"}
    limits = {"project_day": {"tokens": 5, "tool_calls": 5}}
    make_policy("default", project=project, limits=limits)
    for tokens in (9, 1):
        raise_limit(manager, scope="project_day", tokens=tokens)
    raise_limit(manager, scope="project_day", tool_calls=1)  # of another there is room
    more = manager.post("/limits/raise", json={**body, "tokens": 1})
    assert "no more can be added" in problem(more, "invalid")["detail"]
    (use,) = SharedUse.objects.filter(scope="project", owner=project.pk)
    assert (use.tokens_extra, use.tool_calls_extra) == (10, 1)


def test_more_for_today_lets_the_next_step_and_call_through(
    agent: httpx.Client, manager: httpx.Client, project: Project, robo: Robot
) -> None:
    limits = {"agent_day": {"tokens": 1_000, "tool_calls": 2}}
    make_policy("default", project=project, limits=limits)
    runs = [start_run(agent) for _ in range(3)]
    assert report(agent, runs[0], 1, tokens=1_000)["decision"] == "stop"
    assert command(agent, runs[1], "ls")["decision"] == "block"

    name = agent.get(f"/runs/{runs[0]}").json()["agent"]
    raised = raise_limit(
        manager, scope="agent_day", agent=name, tokens=500, tool_calls=3
    )

    (item,) = raised["items"]
    assert item["tokens"] == {
        "limit": 1_500,
        "extra": 500,
        "used": 1_000,
        "share": 0.6667,
    }
    assert (item["tool_calls"]["limit"], raised["version"]) == (5, None)
    assert command(agent, runs[1], "ls")["decision"] == "allow"
    assert report(agent, runs[1], 1, tokens=499)["decision"] == "continue"
    assert report(agent, runs[2], 1, tokens=1)["decision"] == "stop"
    (told,) = list_raises(project)
    assert told["more"] == {"tokens": 500, "tool_calls": 3}
    assert (told["scope"], told["agent_name"]) == ("agent_day", name)
    assert told["reason"] == REASON["reason"]
    assert_replays(*runs)


def test_what_was_stopped_goes_on_once_it_is_reopened(
    agent: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    make_policy("default", project=project, limits={"project_day": {"tokens": 100}})
    run = start_run(agent)
    assert report(agent, run, 1, tokens=100)["decision"] == "stop"
    raise_limit(manager, scope="project_day", tokens=100)
    assert manager.post(f"/runs/{run}/reopen", json=REASON).status_code == 200
    assert report(agent, run, 2, tokens=10)["decision"] == "continue"


def test_notices_come_again_at_the_new_percentages(
    agent: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    make_policy("default", project=project, limits={"project_month": {"tokens": 100}})
    run = start_run(agent)
    report(agent, run, 1, tokens=80)
    raise_limit(manager, scope="project_month", tokens=100)
    report(agent, run, 2, tokens=60)
    report(agent, run, 3, tokens=15)

    entries = Entry.objects.filter(run__code=run, type="limit.noticed").order_by("seq")
    told = [json.loads(entry.payload) for entry in entries]
    assert [(each["percent"], each["limit"]) for each in told] == [(75, 100), (75, 200)]
    assert told[1]["used"] == 155


def test_every_process_knows_of_it_at_once(
    servers: list[Live],  # noqa: F811
    agent: httpx.Client,
    robo: Robot,
    alice: Person,
    project: Project,
) -> None:
    """The limit was met, and so read, by the process that is not asked for more."""
    make_policy("default", project=project, limits={"project_day": {"tool_calls": 1}})
    run = start_run(agent)
    with client_for(servers[0], alice) as manager, client_for(servers[-1], robo) as far:
        assert command(far, run, "ls 1")["decision"] == "allow"
        assert command(far, run, "ls 2")["decision"] == "block"
        raise_limit(manager, scope="project_day", tool_calls=1)
        assert command(far, run, "ls 3")["decision"] == "allow"
        assert command(far, run, "ls 4")["decision"] == "block"


def test_for_good_is_the_next_version_of_the_policy(
    agent: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    limits = {"agent_day": {"tokens": 1_000, "cost_usd": "1.00"}}
    make_policy("default", project=project, limits=limits)
    stopped, other = start_run(agent), start_run(agent)
    assert report(agent, stopped, 1, tokens=1_000)["decision"] == "stop"

    raised = raise_limit(
        manager, scope="agent_day", tokens=500, cost_usd="0.50", for_good=True
    )

    assert (raised["version"]["version"], raised["version"]["active"]) == (3, True)
    stored = manager.get("/policies/default/versions/3").json()
    assert stored["document"]["limits"] == {
        "agent_day": {"tokens": 1_500, "cost_usd": "1.50"}
    }
    assert stored["note"] == REASON["reason"]
    assert report(agent, other, 1, tokens=100)["decision"] == "continue"
    assert manager.post(f"/runs/{stopped}/reopen", json=REASON).status_code == 200
    assert report(agent, stopped, 2, tokens=100)["policy"]["version"] == 3
    assert agent.get(f"/runs/{stopped}").json()["status"] == "running"
    assert list_raises(project) == []
    assert_replays(stopped, other)


def test_where_two_managers_are_needed_it_waits_for_the_second(
    agent: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    limits = {"project_day": {"tokens": 100}}
    make_policy("default", project=project, limits=limits, four_eyes={"policy": True})
    body = {**REASON, "scope": "project_day", "tokens": 100, "for_good": True}
    answer = manager.post("/limits/raise", json=body)
    assert answer.status_code == 202, answer.text
    assert answer.json()["version"]["active"] is False
    review = manager.get(f"/reviews/{answer.json()['version']['review']}").json()
    assert review["kind"] == "policy_change"
    assert report(agent, start_run(agent), 1, tokens=100)["decision"] == "stop"


def test_the_list_has_the_project_and_each_agent_of_today(
    agent: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    limits = {"project_month": {"cost_usd": "2.00"}, "agent_day": {"tokens": 4_000}}
    make_policy("default", project=project, limits=limits)
    run = start_run(agent)
    name = agent.get(f"/runs/{run}").json()["agent"]
    report(agent, run, 1, tokens=1_000, cost_usd="0.50")

    day, month, robot = manager.get("/limits").json()["items"]
    assert (day["scope"], day["policy"], day["share"]) == ("project_day", None, None)
    assert day["tokens"] == {"limit": None, "extra": 0, "used": 1_000, "share": None}
    money = {"limit": "2.00", "extra": "0.00", "used": "0.50", "share": 0.25}
    assert (month["cost_usd"], month["share"], month["policy"]) == (
        money,
        0.25,
        "default",
    )
    assert (robot["scope"], robot["agent"], robot["share"]) == ("agent_day", name, 0.25)
    assert day["period"].startswith(month["period"])


def test_an_agent_has_the_limits_of_the_policies_that_its_runs_may_get(
    agent: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    report(agent, start_run(agent), 1)
    name = manager.get("/limits").json()["items"][-1]["agent"]
    make_robot("another", project=project)
    limits = {"agent_day": {"tokens": 4_000}}
    make_policy("narrow", project=project, limits=limits)
    Project.objects.filter(pk=project.pk).update(agents_choose_policy=False)
    seen = []
    for match in ({"agent": name}, {"intent": "docs"}, {"agent": "another"}):
        replace_assignments(
            project_id=project.pk,
            assignments=[Assignment(match=Match(**match), policy="narrow")],
        )
        seen.append(manager.get("/limits").json()["items"][-1]["policy"])
    assert seen == ["narrow", "narrow", None]


def test_without_an_assignment_it_has_those_of_the_projects_default_policy(
    agent: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    make_policy("default", project=project, limits={"agent_day": {"tokens": 9_000}})
    make_policy("strict", project=project, limits={"agent_day": {"tokens": 4_000}})
    Project.objects.filter(pk=project.pk).update(
        agents_choose_policy=False, default_policy="strict"
    )
    assert report(agent, start_run(agent), 1)["policy"]["name"] == "strict"

    (robot,) = [
        each for each in manager.get("/limits").json()["items"] if each["agent"]
    ]
    assert (robot["policy"], robot["tokens"]["limit"]) == ("strict", 4_000)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"scope": "project_day", "tokens": 5}, "tokens"),
        ({"scope": "agent_day", "tokens": 5}, "agent"),
        ({"scope": "agent_day", "agent": "nobody", "tokens": 5}, "agent"),
        ({"scope": "project_month", "agent": "robo", "tokens": 5}, "agent"),
        ({"scope": "project_month"}, "tokens"),
        ({"scope": "project_month", "tokens": 0}, "tokens"),
        ({"scope": "project_month", "tokens": 5, "reason": " "}, "reason"),
        (
            {"scope": "project_month", "tokens": 5, "for_good": True, "policy": "no"},
            "policy",
        ),
    ],
)
def test_what_cannot_be_raised_is_refused_by_name(
    manager: httpx.Client, project: Project, body: dict[str, Any], field: str
) -> None:
    limits = {"project_month": {"tokens": 100}, "agent_day": {"tokens": 100}}
    make_policy("default", project=project, limits=limits)
    answer = manager.post("/limits/raise", json={**REASON, **body})
    assert fields(problem(answer, "invalid")) == [field]


def test_what_was_given_past_the_writer_is_found(
    manager: httpx.Client, project: Project
) -> None:
    make_policy("default", project=project, limits={"project_day": {"tokens": 100}})
    raise_limit(manager, scope="project_day", tokens=7)
    list_raises(project)
    SharedUse.objects.filter(scope="project", owner=project.pk).update(tokens_extra=700)
    with pytest.raises(SystemExit):
        list_raises(project)
