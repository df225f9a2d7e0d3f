"""A run is not blamed for a limit that others have used up."""

from __future__ import annotations

import httpx

from accounts.models import Project
from ledger.models import Run
from reviews.models import Violation, ViolationSource
from tests.gateway.calls.calls import command
from tests.gateway.limits.test_tree_budgets import assert_replays, report
from tests.support.builders import make_policy, start_run

CALLS = 3


def finish(agent: httpx.Client, run: str) -> dict[str, object]:
    answer = agent.post(f"/runs/{run}/finish", json={"outcome": "completed"})
    assert answer.status_code == 200, answer.text
    finished = answer.json()
    (rate,) = (each for each in finished["evaluations"] if each["name"] == RATE)
    return {
        "status": finished["status"],
        "accepted": finished["accepted"],
        "passed": rate["passed"],
        "rules": rate["details"]["rules"],
    }


RATE = "violation-rate"
GOOD = {"status": "completed", "accepted": True, "passed": True, "rules": []}


def test_a_child_is_not_blamed_for_the_calls_that_its_siblings_used(
    agent: httpx.Client,
) -> None:
    parent = start_run(agent, budget={"tool_calls": CALLS})
    child, sibling = (start_run(agent, parent_run=parent) for _ in range(2))
    for number in range(CALLS):
        assert command(agent, sibling, f"ls {number}")["decision"] == "allow"
    for number in range(CALLS):
        assert command(agent, child, f"ls {number}")["decision"] == "block"

    assert finish(agent, child) == GOOD
    assert not Violation.objects.filter(run__code__in=(child, sibling)).exists()
    assert_replays(child)


def test_a_run_that_a_limit_of_the_day_stopped_is_not_blamed_when_it_goes_on(
    agent: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    make_policy("default", project=project, limits={"project_day": {"tokens": 100}})
    run = start_run(agent)
    assert report(agent, run, 1, tokens=100)["decision"] == "stop"
    more = {"scope": "project_day", "tokens": 100, "reason": "Go on"}
    manager.post("/limits/raise", json=more)
    reopened = manager.post(f"/runs/{run}/reopen", json={"reason": "Go on"})
    assert reopened.status_code == 200, reopened.text

    assert finish(agent, run) == GOOD
    assert_replays(run)


def test_what_was_counted_before_counts_no_more(agent: httpx.Client) -> None:
    """Rows of runs that began under an earlier release; those of other gates count."""
    run = start_run(agent)
    command(agent, run, "ls")
    for place, gate in enumerate(("limits", "destructive")):
        Violation.objects.create(
            project=Run.objects.get(code=run).project,
            run=Run.objects.get(code=run),
            seq=2,
            place=place,
            at=Run.objects.get(code=run).updated_at,
            rule=gate,
            severity="high",
            source=ViolationSource.GATE,
            gate=gate,
            decision="block",
        )
    assert finish(agent, run)["rules"] == ["destructive"]


def test_its_own_budget_still_counts_a_little(agent: httpx.Client) -> None:
    run = start_run(agent, budget={"tool_calls": 1})
    command(agent, run, "ls")
    command(agent, run, "ls again")
    assert finish(agent, run)["rules"] == ["budget"]
