"""Whatever leaves the plan is asked about or refused, as if there were none."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.utils import timezone

from accounts.models import Project
from ledger.models import Run
from ledger.verification.replay import replay_run
from ledger.verification.verify import verify_run_and_rows
from tests.gateway.calls.calls import ask, claim, command, settle, slug
from tests.gateway.calls.calls import rule as rule_call
from tests.gateway.plans.planning import (
    approve,
    bash,
    build_plan,
    build_step,
    get_plan_finding,
    rule_plan,
    submit,
)
from tests.support.builders import make_policy, start_run, step
from tests.support.waiting import stand_at

PLAN = build_plan(
    build_step(
        bash("rm -rf build-1", shape="shape", count=5),
        bash("rm -rf build/out"),
        bash("rm -rf src"),
        purpose="Clean",
        paths=["build", "build-1", "build-2"],
    ),
    build_step(
        bash("git push --force origin topic"),
        {"tool": "db", "arguments": {"sql": "DELETE FROM log"}},
        bash("terraform destroy stack-1", shape="shape"),
        bash("checkrail approve a-1", shape="shape"),
        purpose="Publish",
    ),
    build_step(bash("rm -rf build/late"), purpose="Denied path", paths=["other"]),
)

BLOCKED_RULES = {"git-push-force": "block"}
STRAYING: list[str] = [
    # Other paths.
    "rm -rf build-3",
    "rm -rf source-1",
    "rm -rf build",
    "rm -rf build/out/x",
    "rm -rf build/ou",
    "rm -rf BUILD/out",
    "rm -rf build/../src",
    "rm -rf build-1/..",
    "rm -rf build/out/..",
    "rm -rf ../build/out",
    "rm -rf /build/out",
    "rm -rf ~/build/out",
    "rm -rf /srv/build-1",
    "rm -rf src",
    "rm -rf build/late",
    # Other flags and words.
    "rm -r build/out",
    "rm -rfv build/out",
    "rm -rf -- build/out",
    "rm -rf build/out src",
    "rm -rf build-1 build-2",
    "sudo rm -rf build/out",
    "rm -rf build/out; rm -rf src",
    "rm -rf build/out && rm -rf src",
    "rm -rf build/out | tee src",
    "rm -rf build/out # done",
    "rm -rf $HOME/build/out",
    "rm -rf build-$N",
    "rm -rf build-*",
    "rm -rf  build/out/",
    "cd src && rm -rf build/out",
    "find build/out -delete",
    # Other rules and refs.
    "git push --force origin main",
    "git push -f origin topic",
    "git push --force origin topic --tags",
    "git reset --hard origin/topic",
    "git clean -fdx",
    # By shape only, of rules that are critical or always asked about.
    "terraform destroy stack-2",
    "checkrail approve a-2",
]


@pytest.fixture
def run(agent: httpx.Client, reviewer: httpx.Client) -> str:
    code = start_run(agent)
    approve(agent, reviewer, code, PLAN)
    return code


def assert_sound(run: str) -> None:
    row = Run.objects.get(code=run)
    assert replay_run(row).difference is None
    assert verify_run_and_rows(row).ok


def is_outside(answer: dict[str, Any]) -> bool:
    message: str = get_plan_finding(answer)["message"]
    return message.startswith("Outside the plan: ")


def test_every_way_to_stray_is_asked_about(
    agent: httpx.Client, reviewer: httpx.Client, run: str
) -> None:
    for text in STRAYING:
        answer = command(agent, run, text)
        assert answer["decision"] == "require-confirmation", text
        assert answer["grant"] is None
        assert is_outside(answer), text
        rule_plan(reviewer, answer["review"], "deny")
    others: list[dict[str, Any]] = [
        {"kind": "command", "tool": "Shell", "command": "rm -rf build/out"},
        {"kind": "tool", "tool": "Bash", "arguments": {"command": "rm -rf build/out"}},
        {"kind": "tool", "tool": "db", "arguments": {"sql": "DELETE FROM logs"}},
        {"kind": "tool", "tool": "db2", "arguments": {"sql": "DELETE FROM log"}},
        {"kind": "command", "command": "rm -rf build/out", "confirm": True},
    ]
    for body in others:
        answer = ask(agent, run, **body)
        assert answer["decision"] == "require-confirmation", body
        assert is_outside(answer), body
        rule_plan(reviewer, answer["review"], "deny")
    # The plan itself still stands.
    assert command(agent, run, "rm -rf build/out")["decision"] == "allow"
    assert command(agent, run, "rm -rf build-2")["decision"] == "allow"
    assert_sound(run)


def test_what_is_blocked_stays_blocked(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    make_policy("strict", project=project, tools={"rules": BLOCKED_RULES})
    run = start_run(agent, policy="strict")
    pushed = "git push --force origin topic"
    plan = build_plan(build_step(bash(pushed), bash("rm -rf build/out")))
    review = submit(agent, run, plan)
    assert review["content"]["steps"][0]["scope"][0] == (
        f"`{pushed}` is blocked: the plan does not change that."
    )
    refused = rule_plan(
        reviewer, review, "amend", amended={"steps": [build_step(bash(pushed))]}
    )
    assert (refused.status_code, slug(refused)) == (422, "invalid")
    rule_plan(reviewer, review)
    blocked = command(agent, run, pushed)
    assert (blocked["decision"], blocked["grant"]) == ("block", None)
    key = "AKIA" + "Q7ZK3M5XW2VB9TNL"
    answer = command(agent, run, f"rm -rf build/out {key}")
    assert answer["decision"] in {"block", "require-confirmation"}
    assert answer["grant"] is None
    assert_sound(run)


def test_the_very_call_of_a_critical_rule_goes_through(
    agent: httpx.Client, run: str
) -> None:
    for text in ("terraform destroy stack-1", "checkrail approve a-1"):
        assert command(agent, run, text)["decision"] == "allow"
        assert command(agent, run, text)["decision"] == "require-confirmation"
    assert_sound(run)


def test_a_planned_call_is_used_once(agent: httpx.Client, run: str) -> None:
    assert command(agent, run, "rm -rf build/out")["decision"] == "allow"
    again = command(agent, run, "rm -rf build/out")
    assert again["decision"] == "require-confirmation"
    assert "names it 1 times" in get_plan_finding(again)["message"]


def test_another_run_knows_nothing_of_it(agent: httpx.Client, run: str) -> None:
    other = command(agent, start_run(agent), "rm -rf build/out")
    assert other["decision"] == "require-confirmation"
    assert "plan" not in {finding["gate"] for finding in other["findings"]}


def test_its_calls_are_limited_in_all(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    plan = build_plan(build_step(bash("rm -rf a", count=9)), tool_calls=2)
    approve(agent, reviewer, run, plan)
    decisions = [command(agent, run, "rm -rf a")["decision"] for _ in range(3)]
    assert decisions == ["allow", "allow", "require-confirmation"]
    assert_sound(run)


def test_its_cost_is_limited(agent: httpx.Client, reviewer: httpx.Client) -> None:
    run = start_run(agent)
    plan = build_plan(build_step(bash("rm -rf a", count=9)), cost_usd="0.50")
    approve(agent, reviewer, run, plan)
    first = command(agent, run, "rm -rf a")
    agent.post(
        f"/runs/{run}/tool-calls/{first['id']}/claim", json={"digest": first["digest"]}
    )
    assert settle(agent, run, first, cost_usd="0.50").status_code == 200
    after = command(agent, run, "rm -rf a")
    assert after["decision"] == "require-confirmation"
    assert get_plan_finding(after)["message"] == (
        "Outside the plan: its cost is used up"
    )
    assert_sound(run)


def test_what_the_run_has_cost_before_it_was_approved_does_not_count(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    """Each plan of a run counts from its own approval on."""
    run = start_run(agent)
    plan = build_plan(build_step(bash("rm -rf a", count=9)), cost_usd="0.50")
    for number in (1, 2):
        body = step(number, cost_usd="0.70")
        assert agent.post(f"/runs/{run}/steps", json=body).status_code == 201
        approve(agent, reviewer, run, plan)
        for cost in ("0.30", "0.19", "0.01"):
            call = command(agent, run, "rm -rf a")
            assert call["decision"] == "allow", (number, cost)
            claim(agent, run, call)
            assert settle(agent, run, call, cost_usd=cost).status_code == 200
        after = command(agent, run, "rm -rf a")
        assert get_plan_finding(after)["message"] == (
            "Outside the plan: its cost is used up"
        )
        assert rule_call(reviewer, after, "deny").status_code == 200
    assert_sound(run)


def test_its_time_is_limited(agent: httpx.Client, reviewer: httpx.Client) -> None:
    run = start_run(agent)
    plan = build_plan(build_step(bash("rm -rf a", count=9)), time_ms=600_000)
    approve(agent, reviewer, run, plan)
    assert command(agent, run, "rm -rf a")["decision"] == "allow"
    with stand_at(timezone.now() + timedelta(minutes=10)):
        after = command(agent, run, "rm -rf a")
    assert after["decision"] == "require-confirmation"
    assert get_plan_finding(after)["message"] == "Outside the plan: its time is over"
    assert_sound(run)


@pytest.mark.parametrize("action", ["deny", "abort"])
def test_without_an_approval_it_covers_nothing(
    agent: httpx.Client, reviewer: httpx.Client, action: str
) -> None:
    run = start_run(agent)
    review = submit(agent, run, PLAN)
    waiting = agent.post(
        f"/runs/{run}/tool-calls",
        json={"kind": "command", "command": "rm -rf build/out"},
    )
    assert (waiting.status_code, slug(waiting)) == (409, "run-paused")
    rule_plan(reviewer, review, action, note="No.")
    after = agent.post(
        f"/runs/{run}/tool-calls",
        json={"kind": "command", "command": "rm -rf build/out"},
    )
    if action == "deny":
        assert after.json()["decision"] == "require-confirmation"
    else:
        assert (after.status_code, slug(after)) == (409, "run-closed")
    assert_sound(run)


def test_a_call_that_is_not_asked_about_serves_its_step_all_the_same(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    rules = {"delete-folder": "allow"}
    make_policy("free", project=project, tools={"rules": rules})
    run = start_run(agent, policy="free")
    approve(agent, reviewer, run, build_plan(build_step(bash("rm -rf a", count=2))))
    answer = command(agent, run, "rm -rf a")
    assert answer["decision"] == "allow"
    assert get_plan_finding(answer)["details"]["asked"] is False
    assert_sound(run)


@pytest.mark.parametrize(
    "wrong",
    [
        {"steps": []},
        {"title": ""},
        {"steps": [build_step()]},
        {"steps": [build_step({"tool": "Bash"})]},
        {"steps": [build_step({**bash("ls"), "arguments": {}})]},
        {"steps": [build_step(bash("ls", count=0))]},
        {"steps": [build_step(bash("ls"), paths=["../x"])]},
        {"steps": [build_step(bash("ls"), paths=["/"])]},
        {"steps": [build_step(bash("ls"), paths=["a/*"])]},
        {"steps": [build_step(bash("rm -rf src", shape="shape"))]},
        {"steps": [build_step(bash("rm -rf a-1", shape="rm -rf #"))]},
        {"steps": [build_step(*[bash("ls")] * 21)]},
        {"steps": [build_step(bash("ls"))] * 51},
        {"steps": [build_step(*[bash("ls")] * 20)] * 6},
        {"limits": {"time_ms": 10}},
        {"limits": {"tokens": 1}},
        {"more": 1},
    ],
)
def test_a_plan_that_cannot_be_kept_is_refused(
    agent: httpx.Client, wrong: dict[str, Any]
) -> None:
    run = start_run(agent)
    answer = agent.post(f"/runs/{run}/plans", json={**PLAN, **wrong})
    assert (answer.status_code, slug(answer)) == (422, "invalid")
    assert agent.get(f"/runs/{run}").json()["status"] == "running"
