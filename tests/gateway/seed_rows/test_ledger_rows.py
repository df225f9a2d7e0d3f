"""LG rows: what is logged, created, finished, found again and exported."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import httpx
from checkrail.verify import verify_lines

from accounts.models import Project
from guidance.services import get_policy_in_force
from ledger.models import Run, RunOutcome
from tests.gateway.limits.test_tree_budgets import report
from tests.support.builders import start_run
from tests.support.problems import problem

DONE = {"outcome": "completed", "summary": "The race is gone."}


def find_runs(client: httpx.Client, **query: Any) -> list[str]:
    answer = client.get("/runs", params=query)
    assert answer.status_code == 200, answer.text
    return [run["id"] for run in answer.json()["items"]]


def test_lg_01_each_event_counts_once_and_has_an_id_of_its_own(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    runs = [start_run(agent) for _ in range(3)]
    assert len(set(runs)) == 3
    assert sorted(find_runs(manager)) == sorted(runs)
    before = agent.get(f"/runs/{runs[0]}").json()["head"]["seq"]
    receipt = report(agent, runs[0], 1)["receipt"]
    assert receipt["seq"] == before + 1
    assert agent.get(f"/runs/{runs[0]}").json()["steps"] == 1


def test_lg_02_a_new_run_has_what_it_was_given_and_empty_lists(
    agent: httpx.Client, project: Project
) -> None:
    body = {"task": "Fix the flaky login test", "intent": "bug-fix"}
    made = agent.post("/runs", json=body).json()
    assert {name: made[name] for name in body} == body
    policy = get_policy_in_force(project_id=project.pk, name="default")
    assert made["policy"]["hash"] == policy.hash
    assert (made["evaluations"], made["open_reviews"], made["accepted"]) == (
        [],
        [],
        None,
    )
    assert (made["steps"], made["rework_steps"], made["finished_at"]) == (0, 0, None)
    assert made["children"] == {"running": 0, "total": 0}


def test_lg_03_a_finished_run_has_taken_no_less_than_no_time(
    agent: httpx.Client,
) -> None:
    run = start_run(agent)
    ended = agent.post(f"/runs/{run}/finish", json=DONE).json()
    began, finished = (
        datetime.fromisoformat(ended[name]) for name in ("created_at", "finished_at")
    )
    assert finished >= began
    assert ended["budget"]["time_ms"]["used"] >= 0


def test_lg_04_runs_are_found_by_task_by_time_and_the_last_three(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    runs = [start_run(agent, task=f"Mend part {number}") for number in range(4)]
    assert find_runs(manager, q="part 2") == [runs[2]]
    assert find_runs(manager, limit=3) == runs[:0:-1]
    began = [agent.get(f"/runs/{run}").json()["created_at"] for run in runs]
    assert find_runs(manager, since=began[1], until=began[3]) == [runs[2], runs[1]]


def test_lg_10_what_is_exported_is_read_again_and_nothing_is_lost(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    for steps in (1, 2):
        run = start_run(agent)
        for number in range(1, steps + 1):
            report(agent, run, number)
        lines = manager.get(f"/runs/{run}/ledger").text.splitlines()
        assert verify_lines(lines).entries == len(lines) == 1 + steps


def test_lg_20_a_run_that_is_finished_twice_has_one_outcome(
    agent: httpx.Client,
) -> None:
    run = start_run(agent)
    headers = {"Idempotency-Key": run}
    path = f"/runs/{run}/finish"
    first = agent.post(path, json=DONE, headers=headers)
    again = agent.post(path, json=DONE, headers=headers)
    assert (first.json(), again.headers["Idempotency-Replayed"]) == (
        again.json(),
        "true",
    )
    problem(agent.post(path, json={"outcome": "failed"}), "run-closed")
    row = Run.objects.get(code=run)
    assert RunOutcome.objects.filter(run=row).count() == 1
    assert row.entries.filter(type="run.finished").count() == 1
    assert row.status == "completed"
