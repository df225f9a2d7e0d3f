"""POST /runs: what a run begins with, and what is refused."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import httpx
import pytest

from accounts.models import Project
from tests.conftest import client_for
from tests.support.builders import (
    Robot,
    make_policy,
    make_project,
    make_robot,
    start_run,
)
from tests.support.live import Live
from tests.support.problems import fields, problem

RUN_FIELDS = [
    *("id", "project", "agent", "parent_run", "children", "task", "intent", "model"),
    *(
        "labels",
        "status",
        "status_reason",
        "evaluations",
        "accepted",
        "policy",
        "budget",
        "steps",
    ),
    *("rework_steps", "last_step"),
    *("last_checkpoint_step", "open_reviews", "head", "created_at", "updated_at"),
    *("finished_at", "url", "allowances"),
]
EVERYTHING: dict[str, Any] = {
    "task": "Fix the flaky login test",
    "intent": "bug-fix",
    "model": "some-model",
    "policy": "default",
    "budget": {
        "tokens": 500,
        "tool_calls": 40,
        "time_ms": 3000,
        "cost_usd": "2.50",
    },
    "labels": {"repo": "shop"},
    "parent_run": None,
}


def test_a_run_answers_with_every_field_of_the_contract_in_its_order(
    agent: httpx.Client, project: Project, robo: Robot
) -> None:
    answer = agent.post("/runs", json=EVERYTHING)

    run = answer.json()
    assert answer.status_code == 201
    assert list(run) == RUN_FIELDS
    assert UUID(run["id"]).version == 7
    assert run["project"] == project.slug
    assert run["agent"] == robo.name
    for name in ("task", "intent", "model", "labels"):
        assert run[name] == EVERYTHING[name]
    assert run["status"] == "running"
    assert run["status_reason"] is None
    assert run["policy"]["name"] == "default"
    assert run["policy"]["version"] == 1
    assert run["policy"]["hash"].startswith("sha256:")
    assert run["budget"] == {
        "tokens": {"limit": 500, "used": 0, "remaining": 500},
        "tool_calls": {"limit": 40, "used": 0, "remaining": 40},
        "time_ms": {"limit": 3000, "used": 0, "remaining": 3000},
        "cost_usd": {"limit": "2.50", "used": "0.00", "remaining": "2.50"},
    }
    for name in ("steps", "rework_steps", "last_step", "last_checkpoint_step"):
        assert run[name] == 0
    assert run["open_reviews"] == []
    assert run["head"]["seq"] == 1
    assert len(run["head"]["hash"]) == 64
    assert run["created_at"] == run["updated_at"]
    assert run["created_at"].endswith("Z")
    assert run["finished_at"] is None
    assert run["url"].endswith(f"/p/{project.slug}/runs/{run['id']}/")


def test_only_the_task_is_required(agent: httpx.Client) -> None:
    run = agent.post("/runs", json={"task": "t"}).json()

    assert run["intent"] == "general"
    assert run["model"] is None
    assert run["labels"] == {}
    assert run["budget"]["tokens"]["limit"] == 1_000_000
    assert run["budget"]["tool_calls"]["limit"] == 10_000
    assert run["budget"]["time_ms"]["limit"] == 3_600_000
    assert run["budget"]["cost_usd"]["limit"] == "10.00"


def test_a_budget_part_left_out_is_the_policys_and_null_is_unlimited(
    agent: httpx.Client, project: Project
) -> None:
    make_policy(
        "small",
        project=project,
        budget={"tokens": 7, "tool_calls": 8},
        budget_ceiling={"tokens": None, "cost_usd": None},
    )

    budget = {"tokens": None, "cost_usd": None, "time_ms": 5}
    run = agent.post(
        "/runs", json={"task": "t", "policy": "small", "budget": budget}
    ).json()

    assert run["policy"]["name"] == "small"
    assert run["budget"] == {
        "tokens": {"limit": None, "used": 0, "remaining": None},
        "tool_calls": {"limit": 8, "used": 0, "remaining": 8},
        "time_ms": {"limit": 5, "used": 0, "remaining": 5},
        "cost_usd": {"limit": None, "used": "0.00", "remaining": None},
    }


SMALL = {"tokens": 7, "tool_calls": 8, "time_ms": 9, "cost_usd": "1.50"}
LARGE = {"tokens": 70, "tool_calls": 80, "time_ms": 90, "cost_usd": "15.00"}
ABOVE = {"tokens": 71, "tool_calls": 81, "time_ms": 91, "cost_usd": "15.000001"}
# What the policy gives, its ceiling or none, what the agent asks for, what it gets; the
# parts that are refused where it asks for too much.
CEILINGS: dict[str, tuple[Any, Any, Any, Any]] = {
    "absent: the budget": (SMALL, None, SMALL, SMALL),
    "absent, more is asked for": (SMALL, None, LARGE, list(SMALL)),
    "absent, no limit is asked for": (SMALL, None, dict.fromkeys(SMALL), list(SMALL)),
    "up to the ceiling": (SMALL, LARGE, LARGE, LARGE),
    "above the ceiling": (SMALL, LARGE, ABOVE, list(SMALL)),
    "below a ceiling": (SMALL, LARGE, {"tokens": 1}, {**SMALL, "tokens": 1}),
    "no limit below a ceiling": (
        SMALL,
        LARGE,
        {"tokens": 8, "time_ms": None},
        ["time_ms"],
    ),
    "a part of the ceiling": (
        SMALL,
        {"tokens": 70},
        {"tokens": 70, "tool_calls": 9},
        ["tool_calls"],
    ),
    "no ceiling": (
        SMALL,
        dict.fromkeys(SMALL),
        dict.fromkeys(SMALL),
        dict.fromkeys(SMALL),
    ),
    "no budget": (dict.fromkeys(SMALL), None, {"tokens": 5}, {"tokens": 5}),
}


def test_no_agent_gets_more_than_the_policys_ceiling(
    agent: httpx.Client, project: Project, subtests: pytest.Subtests
) -> None:
    for name, (budget, ceiling, asked, gets) in CEILINGS.items():
        with subtests.test(name):
            parts = {"budget": budget, "budget_ceiling": ceiling}
            make_policy(
                "small", project=project, **{k: v for k, v in parts.items() if v}
            )
            answer = agent.post(
                "/runs", json={"task": "t", "policy": "small", "budget": asked}
            )
            if isinstance(gets, list):
                refusal = problem(answer, "invalid")
                assert fields(refusal) == [f"budget.{part}" for part in gets]
                highest = {**budget, **(ceiling or {})}
                for part, error in zip(gets, refusal["errors"], strict=True):
                    said = f"the policy's ceiling is {highest[part]}"
                    assert said in error["message"], error
                    assert f"budget.{part}" in refusal["detail"]
            else:
                limits = {k: v["limit"] for k, v in answer.json()["budget"].items()}
                assert limits == {**budget, **gets}


def test_a_new_version_of_a_policy_is_for_new_runs_only(
    agent: httpx.Client, project: Project
) -> None:
    make_policy("mine", project=project, budget={"tokens": 1})
    first = start_run(agent, policy="mine")
    make_policy("mine", project=project, budget={"tokens": 2})
    second = start_run(agent, policy="mine")

    versions = [agent.get(f"/runs/{run}").json()["policy"] for run in (first, second)]

    assert [version["version"] for version in versions] == [1, 2]
    assert versions[0]["hash"] != versions[1]["hash"]


def test_a_field_that_is_wrong_is_named(
    agent: httpx.Client, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({}, "task"),
        ({"task": ""}, "task"),
        ({"task": "x" * 20_001}, "task"),
        ({"task": 1}, "task"),
        ({"task": None}, "task"),
        ({"task": "t", "intent": "other"}, "intent"),
        ({"task": "t", "intent": "BUG-FIX"}, "intent"),
        ({"task": "t", "policy": "no-such"}, "policy"),
        ({"task": "t", "policy": ""}, "policy"),
        ({"task": "t", "model": "m" * 201}, "model"),
        ({"task": "t", "budget": {"tokens": -1}}, "budget.tokens"),
        ({"task": "t", "budget": {"tokens": 1.0}}, "budget.tokens"),
        ({"task": "t", "budget": {"tokens": True}}, "budget.tokens"),
        ({"task": "t", "budget": {"cost_usd": 10.0}}, "budget.cost_usd"),
        ({"task": "t", "budget": {"cost_usd": "-1"}}, "budget.cost_usd"),
        ({"task": "t", "budget": {"cost_usd": "1e3"}}, "budget.cost_usd"),
        ({"task": "t", "budget": {"cost_usd": "007"}}, "budget.cost_usd"),
        ({"task": "t", "budget": {"cost_usd": "1.\u0661"}}, "budget.cost_usd"),
        ({"task": "t", "budget": {"cost_usd": "1\n"}}, "budget.cost_usd"),
        ({"task": "t", "budget": {"euro": 1}}, "budget.euro"),
        ({"task": "t", "labels": {"a": 1}}, "labels.a"),
        ({"task": "t", "labels": {"": "x"}}, "labels..[key]"),
        ({"task": "t", "labels": {f"k{n}": "" for n in range(33)}}, "labels"),
        ({"task": "t", "labels": ["a"]}, "labels"),
        ({"task": "t", "parent_run": "x"}, "parent_run"),
        ({"task": "t", "is_admin": True}, "is_admin"),
        ({"task": "t", "project_id": 1}, "project_id"),
    ]
    for body, field in cases:
        with subtests.test(body=body, field=field):
            refusal = problem(agent.post("/runs", json=body), "invalid")

            assert field in fields(refusal)
            assert agent.get("/runs").json()["items"] == []


def test_a_run_may_name_a_parent_of_its_own_project_only(
    agent: httpx.Client, live: Live
) -> None:
    parent = start_run(agent)
    assert start_run(agent, parent_run=parent)

    with client_for(live, make_robot(project=make_project())) as stranger:
        foreign = start_run(stranger)
    absent = "01900000-0000-7000-8000-000000000000"
    refusals = [
        agent.post("/runs", json={"task": "t", "parent_run": code})
        for code in (foreign, absent)
    ]

    assert fields(problem(refusals[0], "invalid")) == ["parent_run"]
    assert refusals[0].content == refusals[1].content


def test_a_refused_start_leaves_nothing_behind_that_others_are_judged_by(
    agent: httpx.Client, live: Live
) -> None:
    """A policy that was rolled back must not lend its judgement to the next one."""
    absent = "01900000-0000-7000-8000-000000000000"
    problem(agent.post("/runs", json={"task": "t", "parent_run": absent}), "invalid")
    other = make_project()
    make_policy("strict", project=other, budget={"tokens": 3})

    with client_for(live, make_robot(project=other)) as stranger:
        run = stranger.post("/runs", json={"task": "t", "policy": "strict"}).json()

    assert run["policy"]["name"] == "strict"
    assert run["budget"]["tokens"]["limit"] == 3


def test_text_that_looks_like_code_is_stored_as_text(agent: httpx.Client) -> None:
    words = "{{7*7}} {% load x %} <script>'; DROP TABLE ledger_run;-- \u202e\U0001f600"
    labels = {"__proto__": words[:200], "__class__": "$ref", "$ref": "#/x"}

    run = start_run(agent, task=words, labels=labels)

    stored = agent.get(f"/runs/{run}").json()
    assert stored["task"] == words
    assert stored["labels"] == labels
