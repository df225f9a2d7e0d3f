"""An agent that follows its approved plan is not asked again."""

from __future__ import annotations

import json
from typing import Any

import httpx

from ledger.models import Run
from ledger.verification.replay import replay_run
from ledger.verification.verify import verify_run_and_rows
from reviews.models import Review
from tests.gateway.calls.calls import claim, command, gates, tool
from tests.gateway.plans.planning import (
    approve,
    bash,
    build_plan,
    build_step,
    get_plan_finding,
    list_plans,
    rule_plan,
    submit,
)
from tests.support.builders import Person, start_run, step

FOLDERS = [f"build/part{letter}" for letter in "abcdefghijklmn"]


def get_types(agent: httpx.Client, run: str) -> list[str]:
    lines = agent.get(f"/runs/{run}/ledger").text.splitlines()
    return [json.loads(line)["type"] for line in lines]


def assert_sound(run: str) -> None:
    row = Run.objects.get(code=run)
    assert replay_run(row).difference is None
    assert verify_run_and_rows(row).ok


def test_a_plan_of_twenty_calls_is_one_review(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    looked = [f"ls {folder}" for folder in FOLDERS[:6]]
    removed = [f"rm -rf {folder}" for folder in FOLDERS]
    plan = build_plan(
        build_step(*map(bash, looked), purpose="Look"),
        build_step(*map(bash, removed), purpose="Remove", paths=["build/"]),
    )
    review = submit(agent, run, plan)
    assert (review["kind"], review["severity"]) == ("plan", "high")
    assert agent.get(f"/runs/{run}").json()["status"] == "paused"
    assert rule_plan(reviewer, review).status_code == 200

    answers = [command(agent, run, text) for text in (*looked, *removed)]

    assert [answer["decision"] for answer in answers] == ["allow"] * 20
    asked = [a for a in answers if "destructive" in gates(a)]
    assert len(asked) >= 12
    assert Review.objects.filter(run__code=run).count() == 1
    assert [get_plan_finding(answer)["details"]["step"] for answer in answers] == [
        *[1] * 6,
        *[2] * 14,
    ]
    assert "Step 2 of the approved plan" in get_plan_finding(answers[-1])["message"]
    assert claim(agent, run, answers[-1]).status_code == 200
    types = get_types(agent, run)
    assert types.count("plan.submitted") == types.count("plan.approved") == 1
    assert types[-2:] == ["plan.ended", "call.claimed"]
    assert_sound(run)


def test_the_scope_is_said_in_words_before_it_is_approved(agent: httpx.Client) -> None:
    run = start_run(agent)
    plan = build_plan(
        build_step(bash("rm -rf build-1", shape="rm -rf build-#", count=3)),
        build_step(bash("rm -rf build/a"), bash("rm -rf src"), paths=["build"]),
        build_step({"tool": "Write", "arguments": {"path": "a"}}, bash("ls")),
        tool_calls=4,
        cost_usd="1.50",
        time_ms=1_800_000,
    )
    content = submit(agent, run, plan)["content"]
    scopes = [step["scope"] for step in content["steps"]]
    assert scopes[0] == [
        "Runs `rm -rf build-#` up to 3 times, where # may be any number or id, "
        "and asks no more about delete-folder."
    ]
    assert scopes[1] == [
        "Runs `rm -rf build/a` once, only below build, and asks no more about "
        "delete-folder.",
        "`rm -rf src` is not covered and asks as before: it is not certainly below the "
        "paths of its step.",
    ]
    assert scopes[2][1] == "Runs `ls` once. Nothing is asked about it today."
    assert content["limits_in_words"] == [
        "4 calls in all",
        "30 minutes from the approval on",
        "until the run has cost $1.50 more",
    ]
    assert content["not_covered"][-1].startswith("1 of the calls that it names")


def test_what_was_used_and_what_is_left(
    agent: httpx.Client, reviewer: httpx.Client, bob: Person
) -> None:
    run = start_run(agent)
    plan = build_plan(
        build_step(bash("rm -rf build-1", shape="shape", count=3), purpose="Old ones"),
        build_step({"tool": "db", "arguments": {"sql": "DELETE FROM a"}}),
    )
    review = submit(agent, run, plan)
    assert list_plans(agent, run)[0]["state"] == "submitted"
    rule_plan(reviewer, review)
    command(agent, run, "rm -rf build-7")
    command(agent, run, "rm -rf build-1", arguments={"command": "rm -rf build-1"})
    assert tool(agent, run, "db", sql="DELETE FROM b")["review"]
    command(agent, run, "ls")

    (stands,) = list_plans(reviewer, run)

    assert stands["state"] == "standing"
    assert stands["approved_by"] == bob.user.username
    first, second = stands["steps"]
    assert (first["planned"], first["used"], first["left"]) == (3, 2, 1)
    assert (second["used"], second["left"]) == (0, 1)
    assert stands["calls_outside"] == 2
    assert list_plans(agent, run) == [stands]
    assert_sound(run)


def test_it_outlives_steps_and_ends_when_another_one_is_approved(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    approve(agent, reviewer, run, build_plan(build_step(bash("rm -rf a"))))
    assert agent.post(f"/runs/{run}/steps", json=step(1)).status_code == 201
    assert list_plans(agent, run)[0]["state"] == "standing"
    approve(agent, reviewer, run, build_plan(build_step(bash("rm -rf b"))))

    newer, older = list_plans(agent, run)

    assert (newer["state"], older["state"]) == ("standing", "replaced")
    assert command(agent, run, "rm -rf b")["decision"] == "allow"
    assert command(agent, run, "rm -rf a")["decision"] == "require-confirmation"
    assert_sound(run)


def test_the_same_key_submits_it_once(agent: httpx.Client) -> None:
    run = start_run(agent)
    plan, head = build_plan(build_step(bash("rm -rf a"))), {"Idempotency-Key": "p-1"}
    first = agent.post(f"/runs/{run}/plans", json=plan, headers=head)
    again = agent.post(f"/runs/{run}/plans", json=plan, headers=head)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.json() == first.json()


def test_its_agent_may_take_it_back(agent: httpx.Client) -> None:
    run = start_run(agent)
    review = submit(agent, run, build_plan(build_step(bash("rm -rf a"))))
    taken = agent.post(f"/reviews/{review['id']}/withdraw")
    assert taken.status_code == 200, taken.text
    assert list_plans(agent, run)[0]["state"] == "withdrawn"
    assert command(agent, run, "rm -rf a")["decision"] == "require-confirmation"


def test_a_person_strikes_and_changes_steps(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    kept = build_step(bash("rm -rf a"), purpose="Kept")
    struck = build_step(bash("rm -rf b"), purpose="Struck")
    review = submit(agent, run, build_plan(struck, kept))
    changed: dict[str, Any] = {"steps": [kept, build_step(bash("rm -rf c"))]}
    ruled = rule_plan(reviewer, review, "amend", amended=changed)
    assert ruled.status_code == 200, ruled.text

    decision = agent.get(f"/runs/{run}/decision").json()

    amended = decision["ruling"]["amended"]
    assert [each["purpose"] for each in amended["steps"]] == ["Kept", "Clean up"]
    assert command(agent, run, "rm -rf a")["decision"] == "allow"
    assert command(agent, run, "rm -rf c")["decision"] == "allow"
    assert command(agent, run, "rm -rf b")["decision"] == "require-confirmation"
    assert list_plans(agent, run)[0]["amended"] is True
    assert_sound(run)


def test_nobody_amends_it_to_what_no_plan_covers(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    review = submit(agent, run, build_plan(build_step(bash("rm -rf a"))))
    wrong: list[dict[str, Any] | None] = [
        None,
        {"steps": []},
        {"kind": "plan"},
        {"steps": [build_step(bash("rm -rf a"), paths=["b"])]},
    ]
    for amended in wrong:
        refused = rule_plan(reviewer, review, "amend", amended=amended)
        assert refused.status_code == 422, refused.text
    assert reviewer.get(f"/reviews/{review['id']}").json()["state"] == "open"
