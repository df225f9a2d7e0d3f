"""POST /runs/{run}/finish: the agent's own end of a run."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.support.builders import pause_run, start_run, step
from tests.support.problems import fields, problem

pytestmark = pytest.mark.once(
    "forms of requests; finished runs are repeated in tests/ledger"
)

WHOLE = {
    "outcome": "completed",
    "summary": "Done",
    "tests": {"ran": True, "passed": 10, "failed": 0, "skipped": 1},
    "diff": {"lines_added": 120, "lines_removed": 30, "files_changed": 4},
    "rework_lines": 12,
    "files_touched": ["a.py"],
    "tools_used": ["Bash"],
    "violations": [
        {
            "rule": "R1",
            "severity": "high",
            "description": "no",
            "auto_corrected": False,
        }
    ],
}


def test_a_finished_run_keeps_all_that_was_sent(agent: httpx.Client) -> None:
    run = start_run(agent)

    answer = agent.post(f"/runs/{run}/finish", json=WHOLE)

    body = answer.json()
    assert answer.status_code == 200
    evaluations = body["evaluations"]
    assert {said["name"]: said["passed"] for said in evaluations} == {
        "tests-pass": True,
        "diff-quality": True,
        "violation-rate": True,
        "forbidden-commands": True,
        "forbidden-dependencies": None,
    }
    assert {said["source"] for said in evaluations} == {"reported", None}
    assert body["accepted"] is True
    assert body["status"] == "completed"
    assert body["status_reason"] == "Done"
    assert body["finished_at"] == body["updated_at"]
    assert agent.get(f"/runs/{run}").json() == body
    last = json.loads(agent.get(f"/runs/{run}/ledger").text.splitlines()[-1])
    assert last["type"] == "run.finished"
    assert last["payload"].items() >= {**WHOLE, "evaluations": evaluations}.items()
    assert last["payload"]["said"] == sorted(WHOLE)


def test_runs_are_listed_by_how_they_were_judged(agent: httpx.Client) -> None:
    failed = {"ran": True, "passed": 1, "failed": 1}
    ends: dict[str, dict[str, Any]] = {
        "false": {"tests": failed},
        "true": {"violations": []},
        "none": {},
    }
    runs = {}
    for name, said in ends.items():
        runs[name] = start_run(agent)
        agent.post(f"/runs/{runs[name]}/finish", json={"outcome": "completed", **said})
    for name in ("false", "true"):
        found = agent.get("/runs", params={"accepted": name}).json()["items"]
        assert [run["id"] for run in found] == [runs[name]]
    found = agent.get("/runs").json()["items"]
    assert [run["accepted"] for run in found] == [None, True, False]
    assert [len(run["evaluations"]) for run in found] == [5, 5, 5]


@pytest.mark.parametrize("outcome", ["completed", "failed"])
def test_the_outcome_is_the_status_and_it_is_final(
    agent: httpx.Client, outcome: str
) -> None:
    run = start_run(agent)
    agent.post(f"/runs/{run}/finish", json={"outcome": outcome})

    refusals = [
        agent.post(f"/runs/{run}/finish", json={"outcome": "completed"}),
        agent.post(f"/runs/{run}/steps", json=step(1)),
        agent.post(f"/runs/{run}/steps/batch", json={"steps": [step(1)]}),
        agent.post(f"/runs/{run}/checkpoints", json={"step": 0}),
        agent.post(f"/runs/{run}/reviews", json={"kind": "question", "title": "?"}),
    ]

    for refusal in refusals:
        assert problem(refusal, "run-closed")["run_status"] == outcome
    assert agent.get(f"/runs/{run}").json()["status"] == outcome


def test_a_run_that_waits_for_a_person_cannot_finish(agent: httpx.Client) -> None:
    run = start_run(agent)
    review = pause_run(agent, run)["review"]

    refusal = problem(
        agent.post(f"/runs/{run}/finish", json={"outcome": "completed"}), "review-open"
    )

    assert refusal["review"] == review
    assert agent.get(f"/runs/{run}").json()["status"] == "paused"


def test_a_stopped_run_cannot_finish(agent: httpx.Client) -> None:
    run = start_run(agent)
    agent.post(f"/runs/{run}/steps", json=step(1, coherence=0.1))

    problem(
        agent.post(f"/runs/{run}/finish", json={"outcome": "completed"}), "run-closed"
    )


def test_a_wrong_ending_is_refused(
    agent: httpx.Client, subtests: pytest.Subtests
) -> None:
    run = start_run(agent)
    cases: list[tuple[dict[str, Any], str]] = [
        ({}, "outcome"),
        ({"outcome": "aborted"}, "outcome"),
        ({"outcome": "completed", "tests": {"passed": 1}}, "tests.ran"),
        ({"outcome": "completed", "tests": {"ran": 1}}, "tests.ran"),
        ({"outcome": "completed", "diff": {"lines_added": -1}}, "diff.lines_added"),
        ({"outcome": "completed", "rework_lines": "1"}, "rework_lines"),
        ({"outcome": "completed", "files_touched": "a.py"}, "files_touched"),
        ({"outcome": "completed", "violations": [{}]}, "violations.0.rule"),
        ({"outcome": "completed", "evaluations": []}, "evaluations"),
    ]
    for body, field in cases:
        with subtests.test(body=body, field=field):
            answer = agent.post(f"/runs/{run}/finish", json=body)

            assert field in fields(problem(answer, "invalid"))
            assert agent.get(f"/runs/{run}").json()["status"] == "running"
