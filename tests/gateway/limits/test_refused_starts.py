"""No run begins, and none is reopened, under a limit that is used up."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import httpx

from accounts.models import Agent, Project
from guidance.core.runs.shared_limits import SharedLimit
from ledger.models import Run, SharedUse
from reviews.errors import LimitReached
from tests.conftest import client_for
from tests.gateway.calls.calls import command
from tests.gateway.coding_agents.hosts import Host, decision, reason
from tests.gateway.limits.test_tree_budgets import report
from tests.gateway.telemetry.spans import chat, new_trace, send
from tests.support.builders import Robot, make_policy, make_robot, start_run
from tests.support.live import Live
from tests.support.problems import problem
from tests.support.rows import each_row

REOPENED = {"reason": "Once more"}


def use_up(agent: httpx.Client, project: Project, **limits: Any) -> str:
    """A run that was stopped by a limit of 1,000 tokens, or by these."""
    wanted = limits or {"agent_day": {"tokens": 1_000}}
    make_policy("default", project=project, limits=wanted)
    run = start_run(agent)
    assert report(agent, run, 1, tokens=1_000, cost_usd="1")["decision"] == "stop"
    return run


def refuse_start(agent: httpx.Client, **more: Any) -> dict[str, Any]:
    return problem(agent.post("/runs", json={"task": "t", **more}), "limit-reached")


def test_twenty_restarts_of_a_stopped_agent_spend_nothing(
    agent: httpx.Client, project: Project
) -> None:
    use_up(agent, project)
    (counted,) = SharedUse.objects.filter(scope="project", owner=project.pk)[:1]
    before = SharedUse.objects.filter(pk=counted.pk).values().get()
    runs = Run.objects.filter(project=project)
    started = runs.count()

    for _ in range(20):
        answer = agent.post("/runs", json={"task": "Once more"})
        problem(answer, "limit-reached")

    assert runs.count() == started
    assert SharedUse.objects.filter(pk=counted.pk).values().get() == before


def test_the_refusal_says_which_limit_it_is_and_when_it_begins_anew(
    agent: httpx.Client, robo: Robot, project: Project
) -> None:
    use_up(agent, project)
    answer = agent.post("/runs", json={"task": "t"})
    refusal = problem(answer, "limit-reached")
    begins = refusal["limit"].pop("begins_anew")
    name = Agent.objects.get(project=project, name=robo.name).name
    assert refusal["limit"] == {
        "scope": "agent_day",
        "agent": name,
        "run": None,
        "part": "tokens",
        "limit": 1_000,
        "used": 1_000,
    }
    assert begins.endswith("T00:00:00.000000Z")
    moment = datetime.fromisoformat(begins)
    left = (moment - datetime.now(UTC)).total_seconds()
    assert left - 60 < int(answer.headers["Retry-After"]) <= left + 60
    assert 0 < left <= 86_400
    assert refusal["detail"] == (
        "This agent's tokens for today are used up: 1,000 of 1,000. Until "
        f"{moment:%Y-%m-%d} 00:00 UTC, or a manager raises it, no run begins or is "
        "reopened."
    )


def test_of_several_limits_the_one_that_begins_anew_last_is_named(
    agent: httpx.Client, project: Project
) -> None:
    limits = {"agent_day": {"tokens": 10}, "project_month": {"cost_usd": "1.00"}}
    use_up(agent, project, **limits)
    limit = refuse_start(agent)["limit"]
    assert (limit["scope"], limit["agent"]) == ("project_month", None)
    assert (limit["part"], limit["limit"], limit["used"]) == (
        *("cost_usd", "1.00"),
        "1.00",
    )
    assert "-01T00:00" in limit["begins_anew"]


def test_a_child_of_a_run_whose_budget_is_used_up_does_not_begin(
    agent: httpx.Client,
) -> None:
    parent = start_run(agent, budget={"tokens": 1_000})
    child = start_run(agent, parent_run=parent)
    report(agent, child, 1, tokens=1_000)
    answer = agent.post("/runs", json={"task": "t", "parent_run": parent})
    limit = problem(answer, "limit-reached")["limit"]
    assert (limit["scope"], limit["run"]) == ("run", parent)
    assert limit["begins_anew"] is None
    assert answer.headers["Retry-After"] == "60"
    start_run(agent)  # below no other it may


def test_what_is_not_used_up_or_anothers_lets_a_run_begin(
    live: Live, agent: httpx.Client, project: Project
) -> None:
    make_policy("default", project=project, limits={"agent_day": {"tokens": 1_001}})
    report(agent, start_run(agent), 1, tokens=1_000)
    run = start_run(agent)  # one token is left
    report(agent, run, 1, tokens=1)
    refuse_start(agent)
    with client_for(live, make_robot("other", project=project)) as other:
        start_run(other)


def test_what_was_answered_before_is_answered_again(
    agent: httpx.Client, project: Project
) -> None:
    make_policy("default", project=project, limits={"agent_day": {"tokens": 1_000}})
    once = {"Idempotency-Key": "once"}
    first = agent.post("/runs", json={"task": "t"}, headers=once)
    report(agent, first.json()["id"], 1, tokens=1_000)
    again = agent.post("/runs", json={"task": "t"}, headers=once)
    assert (again.status_code, again.json()) == (201, first.json())


def test_an_agents_own_limit_of_the_day_is_one(
    agent: httpx.Client, admin: httpx.Client, robo: Robot, project: Project
) -> None:
    code = Agent.objects.get(project=project, name=robo.name).code
    answer = admin.patch(f"/agents/{code}", json={"limits": {"tool_calls": 1}})
    assert answer.status_code == 200, answer.text
    assert command(agent, start_run(agent), "ls")["decision"] == "allow"
    assert refuse_start(agent)["limit"]["part"] == "tool_calls"


def test_a_raised_limit_lets_runs_begin_again(
    agent: httpx.Client, manager: httpx.Client, robo: Robot, project: Project
) -> None:
    use_up(agent, project)
    more = {"scope": "agent_day", "agent": robo.name, "tokens": 1, "reason": "Go on"}
    assert manager.post("/limits/raise", json=more).status_code == 200
    start_run(agent)


def test_a_stopped_run_is_not_reopened_under_it(
    agent: httpx.Client, manager: httpx.Client, robo: Robot, project: Project
) -> None:
    run = use_up(agent, project)
    answer = manager.post(f"/runs/{run}/reopen", json=REOPENED)
    limit = problem(answer, "limit-reached")["limit"]
    assert (limit["scope"], limit["agent"]) == ("agent_day", robo.name)
    assert agent.get(f"/runs/{run}").json()["status"] == "stopped"

    more = {"scope": "agent_day", "agent": robo.name, "tokens": 1, "reason": "Go on"}
    manager.post("/limits/raise", json=more)
    reopened = manager.post(f"/runs/{run}/reopen", json=REOPENED)
    assert (reopened.status_code, reopened.json()["status"]) == (200, "running")


def test_a_reopened_run_is_held_to_the_limits_that_it_goes_on_under(
    agent: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    """A limit that was raised for good moves the run to the next version."""
    run = use_up(agent, project, project_day={"tokens": 1_000})
    more = {"scope": "project_day", "tokens": 1, "reason": "Go on", "for_good": True}
    assert manager.post("/limits/raise", json=more).status_code == 200
    reopened = manager.post(f"/runs/{run}/reopen", json=REOPENED)
    assert reopened.status_code == 200, reopened.text


def test_a_session_of_a_coding_agent_does_not_begin_under_it(
    agent: httpx.Client, project: Project
) -> None:
    use_up(agent, project)
    claude = Host(client=agent)
    prompted = claude.fire("UserPromptSubmit", prompt="Go on")
    assert prompted["continue"] is False
    assert "tokens for today are used up" in prompted["stopReason"]
    asked = claude.before("ls")
    assert decision(asked) == "deny"
    assert "tokens for today are used up" in reason(asked)
    assert not claude.known


@each_row(
    "scope, at, begins",
    [
        ("agent_day", "2026-12-31T23:59:59.5", "2027-01-01"),
        ("project_day", "2028-02-28T00:00", "2028-02-29"),
        ("project_month", "2026-12-31T12:00", "2027-01-01"),
        ("project_month", "2026-01-01T00:00", "2026-02-01"),
    ],
)
def test_days_and_months_begin_anew_in_utc(scope: str, at: str, begins: str) -> None:
    limit = SharedLimit(scope=scope, part="tokens", limit=1, used=1)
    now = datetime.fromisoformat(at).replace(tzinfo=UTC)
    refusal = LimitReached.from_limits([limit], agent="robo", at=now)
    assert refusal.extra["limit"]["begins_anew"] == f"{begins}T00:00:00.000000Z"
    assert int(refusal.headers["Retry-After"]) >= 1


def test_what_is_only_observed_has_begun_already_and_is_counted(
    agent: httpx.Client, project: Project
) -> None:
    use_up(agent, project)
    (counted,) = SharedUse.objects.filter(scope="project", owner=project.pk)[:1]
    send(agent, chat(new_trace(), tokens=70))
    counted.refresh_from_db()
    assert counted.tokens == 1_070
    refuse_start(agent)
