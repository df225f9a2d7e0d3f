"""Caps on open reviews and runs: exact under parallel writers, and trouble never allows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from checkrail import Checkrail, Stopped
from django.db import connection
from django.utils import timezone

from accounts.models import Agent, Project
from ledger.models import Entry, Run
from ledger.verification.replay import replay_run
from ledger.verification.verify import verify_run
from reviews.models import Review
from tests.conftest import client_for
from tests.gateway.calls.calls import command
from tests.gateway.checks.saying import exhaust, judge
from tests.support.builders import Robot, make_policy, make_robot, start_run, step
from tests.support.live import Live
from tests.support.people import rule
from tests.support.problems import problem
from tests.support.processes import another_web_process
from tests.support.threads import at_once

CAP = 4
GATES = {
    "tests-pass": {"name": "Tests", "severity": "critical", "criteria": ["They pass"]}
}
UNCERTAIN = step(1, uncertainty=0.95)


@pytest.fixture
def capped(project: Project) -> None:
    caps = {"open_reviews": {"agent": CAP}, "open_runs": {"agent": 40}}
    make_policy("default", project=project, caps=caps, gates=GATES)


def fill(agent: httpx.Client, count: int = CAP) -> list[str]:
    """Open as many reviews as there may be; returns their runs."""
    runs = [start_run(agent) for _ in range(count)]
    for run in runs:
        assert command(agent, run)["decision"] == "require-confirmation"
    return runs


def whole(project: Project) -> bool:
    runs = Run.objects.filter(project=project)
    return all(
        verify_run(run).ok and replay_run(run).difference is None for run in runs
    )


def open_reviews(project: Project) -> int:
    return Review.objects.filter(project=project, state="open").count()


def test_a_call_over_the_cap_is_blocked_and_says_why(
    agent: httpx.Client, reviewer: httpx.Client, project: Project, capped: None
) -> None:
    runs = fill(agent)
    run = start_run(agent)

    blocked = command(agent, run)

    assert blocked["decision"] == "block"
    (finding,) = (f for f in blocked["findings"] if f["gate"] == "review_limit")
    assert f"its limit is {CAP}" in finding["message"]
    assert "ask again" in finding["remediation"]
    assert (blocked["review"], blocked["grant"]) == (None, None)
    assert open_reviews(project) == CAP
    assert agent.get(f"/runs/{run}").json()["status"] == "running"
    # What needs nobody goes on, and a closed review makes room for the next one.
    assert command(agent, run, "ls")["decision"] == "allow"
    review = agent.get(f"/runs/{runs[0]}").json()["open_reviews"][0]["id"]
    rule(reviewer, review, "deny")
    assert command(agent, run)["decision"] == "require-confirmation"
    assert whole(project)


def test_a_step_that_would_pause_stops_at_the_cap(
    agent: httpx.Client, manager: httpx.Client, project: Project, capped: None
) -> None:
    fill(agent)
    run = start_run(agent)

    stopped = agent.post(f"/runs/{run}/steps", json=UNCERTAIN).json()

    assert stopped["decision"] == "stop"
    assert [f["gate"] for f in stopped["findings"]] == ["uncertainty", "review_limit"]
    assert stopped["review"] is None
    told = agent.get(f"/runs/{run}").json()
    assert (told["status"], told["steps"]) == ("stopped", 1)
    assert "open reviews" in told["status_reason"]
    problem(agent.post(f"/runs/{run}/steps", json=step(2)), "run-closed")
    assert open_reviews(project) == CAP
    reopened = manager.post(f"/runs/{run}/reopen", json={"reason": "There is room."})
    assert reopened.status_code == 200, reopened.text
    assert whole(project)


def test_a_failed_check_stops_its_run_at_the_cap(
    agent: httpx.Client, project: Project, capped: None
) -> None:
    run = start_run(agent)
    fill(agent)

    check, told = exhaust(agent, run, "tests-pass")

    assert (told["outcome"], told["review"]) == ("exhausted", None)
    assert agent.get(f"/runs/{run}").json()["status"] == "stopped"
    again = agent.get(f"/runs/{run}/gate-checks/{check['id']}").json()
    assert (again["status"], again["review"]) == ("exhausted", None)
    assert open_reviews(project) == CAP
    assert whole(project)


def test_a_check_that_fails_again_at_the_cap_names_no_earlier_review(
    agent: httpx.Client, reviewer: httpx.Client, project: Project, capped: None
) -> None:
    run = start_run(agent)
    check, first = exhaust(agent, run, "tests-pass")
    path = f"/runs/{run}/gate-checks/{check['id']}"
    assert agent.get(path).json()["review"]["id"] == first["review"]["id"]
    rule(reviewer, first["review"]["id"], "retry", note="Once more")
    fill(agent)

    told = judge(agent, run, check)
    while told["outcome"] == "retry":
        told = judge(agent, run, check)

    assert (told["outcome"], told["review"]) == ("exhausted", None)
    again = agent.get(path).json()
    assert (again["status"], again["review"]) == ("exhausted", None)
    assert whole(project)


def test_the_client_takes_a_failed_check_at_the_cap_for_a_stop(
    agent: httpx.Client, live: Live, robo: Robot, capped: None
) -> None:
    fill(agent)
    with Checkrail(live.url, robo.key) as rail:
        run = rail.run("Check")
        check = run.gate_check(["tests-pass"])
        assert check.verdict("FAIL", "Nothing passes").outcome == "retry"
        with pytest.raises(Stopped, match="open reviews"):
            check.verdict("FAIL", "Nothing passes")
        run.close()


@pytest.mark.parametrize(
    ("door", "body"),
    [
        ("reviews", {"kind": "request", "title": "May I?", "detail": ""}),
        ("reviews", {"kind": "question", "title": "Which?", "detail": ""}),
        (
            "turns",
            {
                "finish_reason": "stop",
                "tool_calls": 0,
                "last_event": "assistant",
                "content": "Should I delete the old table?",
                "pending_todos": 0,
            },
        ),
    ],
)
def test_what_an_agent_asks_by_itself_is_refused_at_the_cap(
    agent: httpx.Client,
    project: Project,
    capped: None,
    door: str,
    body: dict[str, Any],
) -> None:
    fill(agent)
    run = start_run(agent)
    before = Entry.objects.filter(run__code=run).count()

    answer = agent.post(f"/runs/{run}/{door}", json=body)

    refusal = problem(answer, "rate-limited")
    assert f"This agent has {CAP} open reviews" in refusal["detail"]
    assert int(answer.headers["retry-after"]) > 1
    assert Entry.objects.filter(run__code=run).count() == before
    assert open_reviews(project) == CAP


def test_a_project_has_a_cap_of_its_own(
    live: Live, agent: httpx.Client, project: Project
) -> None:
    caps = {"open_reviews": {"agent": 5, "project": 6}}
    make_policy("default", project=project, caps=caps)
    fill(agent, 5)
    with client_for(live, make_robot("rita", project=project)) as other:
        run = start_run(other)
        assert command(other, run)["decision"] == "require-confirmation"
        blocked = command(other, run, "rm -rf dist")

    (finding,) = (f for f in blocked["findings"] if f["gate"] == "review_limit")
    assert finding["details"] == {
        "scope": "project",
        "count": 6,
        "limit": 6,
    }


def cap_reviews(owner: Project, **caps: Any) -> None:
    rules = {"git-push-force": "critical"}
    make_policy(
        "default",
        project=owner,
        caps={"open_reviews": caps},
        reviews={"severity": {"rules": rules}},
    )


def test_a_share_of_the_cap_is_kept_for_what_is_critical(
    agent: httpx.Client, project: Project
) -> None:
    """A call, a step and a question are refused where a critical call and pause are not."""
    cap_reviews(project, project=6, project_per_agent=0, critical_share=0.34)
    fill(agent, CAP)
    room = start_run(agent)

    blocked = command(agent, room)
    stopped = agent.post(f"/runs/{start_run(agent)}/steps", json=UNCERTAIN).json()
    ask = {"kind": "question", "title": "Which?", "detail": "", "severity": "critical"}
    refused = agent.post(f"/runs/{room}/reviews", json=ask)
    critical_call = command(agent, room, "git push --force origin main")

    (finding,) = (f for f in blocked["findings"] if f["gate"] == "review_limit")
    assert finding["details"] == {"scope": "project", "count": 4, "limit": 6, "kept": 2}
    assert "of which 2 are kept for critical ones" in finding["message"]
    assert stopped["decision"] == "stop"
    # What an agent calls critical is not what the policy calls critical.
    assert "kept for critical" in problem(refused, "rate-limited")["detail"]
    assert critical_call["decision"] == "require-confirmation"
    assert open_reviews(project) == 5
    another = start_run(agent)
    assert command(agent, another, "git push --force a b")["review"] is not None
    full = command(agent, start_run(agent), "git push --force a c")
    assert full["decision"] == "block"
    assert whole(project)


def test_the_cap_of_a_project_grows_with_its_agents(
    agent: httpx.Client, project: Project
) -> None:
    cap_reviews(project, project=2, project_per_agent=2, critical_share=0)
    for name in ("one", "two"):
        make_robot(name, project=project)
    gone = Agent.objects.get(name="two", project=project)
    Agent.objects.filter(pk=gone.pk).update(disabled_at=timezone.now())
    fill(agent, 4)  # two agents work here, beside one that is disabled and the server's

    blocked = command(agent, start_run(agent))

    (finding,) = (f for f in blocked["findings"] if f["gate"] == "review_limit")
    assert finding["details"] == {
        "scope": "project",
        "count": 4,
        "limit": 4,
        "agents": 2,
    }
    assert whole(project)


def test_another_policy_is_no_way_around_and_a_change_counts_at_once(
    agent: httpx.Client, project: Project, capped: None
) -> None:
    make_policy("lax", project=project, caps={"open_reviews": {"agent": None}})
    fill(agent)
    run = start_run(agent, policy="lax")
    assert command(agent, run)["decision"] == "block"

    make_policy("default", project=project, caps={"open_reviews": {"agent": CAP + 1}})

    assert command(agent, run)["decision"] == "require-confirmation"


def test_runs_over_the_cap_are_refused_in_words(
    agent: httpx.Client, project: Project
) -> None:
    make_policy("default", project=project, caps={"open_runs": {"agent": 3}})
    runs = [start_run(agent) for _ in range(3)]

    answer = agent.post("/runs", json={"task": "one more"})

    refusal = problem(answer, "rate-limited")
    assert "3 runs that are running or paused" in refusal["detail"]
    assert int(answer.headers["retry-after"]) > 1
    assert Run.objects.filter(project=project, agent__name="robo").count() == 3
    agent.post(f"/runs/{runs[0]}/finish", json={"outcome": "completed"})
    start_run(agent)


@pytest.fixture
def servers(live: Live) -> Iterator[list[Live]]:
    """One process on SQLite, two on PostgreSQL."""
    if connection.vendor == "sqlite":
        yield [live]
        return
    with another_web_process() as process:
        yield [live, process.live]


def test_a_cap_of_n_is_exact_under_many_writers(
    servers: list[Live],
    robo: Robot,
    agent: httpx.Client,
    project: Project,
    capped: None,
) -> None:
    """Calls and pauses of as many runs, at once, through every process."""
    many = 4 * CAP
    runs = [start_run(agent) for _ in range(2 * many)]

    def ask(number: int) -> str:
        with client_for(servers[number % len(servers)], robo) as client:
            if number % 4 < 2:
                return str(command(client, runs[number])["decision"])
            path = f"/runs/{runs[number]}/steps"
            return str(client.post(path, json=UNCERTAIN).json()["decision"])

    said = Counter(at_once(*[lambda n=n: ask(n) for n in range(2 * many)]))

    asked = said["require-confirmation"] + said["pause"]
    assert asked == CAP
    assert said["block"] + said["stop"] == 2 * many - CAP
    assert open_reviews(project) == CAP
    assert whole(project)


def test_a_cap_on_runs_is_exact_under_many_writers(
    servers: list[Live], robo: Robot, project: Project
) -> None:
    make_policy("default", project=project, caps={"open_runs": {"agent": CAP}})

    def start(number: int) -> int:
        with client_for(servers[number % len(servers)], robo) as client:
            return client.post("/runs", json={"task": "many"}).status_code

    said = Counter(at_once(*[lambda n=n: start(n) for n in range(3 * CAP)]))

    assert said == {201: CAP, 429: 2 * CAP}


def test_a_paused_run_counts_until_it_has_ended(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    make_policy("default", project=project, caps={"open_runs": {"agent": 1}})
    run = start_run(agent)
    agent.post(f"/runs/{run}/steps", json=UNCERTAIN)
    assert agent.get(f"/runs/{run}").json()["status"] == "paused"

    problem(agent.post("/runs", json={"task": "one more"}), "rate-limited")

    reviewer.post(f"/runs/{run}/abort", json={})
    start_run(agent)
