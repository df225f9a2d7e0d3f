"""A plan is ruled on as severely as what it lets happen."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from accounts.models import Project
from ledger.models import Run
from ledger.verification.replay import replay_run
from ledger.verification.verify import verify_run_and_rows
from reviews.models import Review
from tests.gateway.calls.calls import command, slug
from tests.gateway.first_look.looking import list_entries
from tests.gateway.plans.planning import (
    approve,
    bash,
    build_plan,
    build_step,
    list_plans,
    rule_plan,
    submit,
)
from tests.support.builders import make_policy, start_run
from tests.support.problems import fields, problem

DELETING = build_plan(build_step(bash("rm -rf a")), build_step(bash("rm -rf b")))


@pytest.fixture
def careful(project: Project) -> str:
    """Force pushes take two people."""
    rules = {"approvals": 2, "rules": ["git-push-force"]}
    make_policy("careful", project=project, four_eyes=rules)
    return "careful"


def assert_sound(run: str) -> None:
    row = Run.objects.get(code=run)
    assert replay_run(row).difference is None
    assert verify_run_and_rows(row).ok


def test_its_severity_is_the_highest_of_its_calls(agent: httpx.Client) -> None:
    severities = []
    for texts in (["ls"], ["ls", "rm -rf a"], ["rm -rf a", "checkrail approve 4"]):
        plan = build_plan(build_step(*map(bash, texts)))
        severities.append(submit(agent, start_run(agent), plan)["severity"])
    assert severities == ["medium", "high", "critical"]


def test_what_an_approval_does_not_answer_makes_it_no_severer(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    """The deletion is outside of its step's folder: it is asked about as if unplanned."""
    run = start_run(agent)
    calls = [bash("ls build"), bash("rm -rf /srv/shop"), bash("rm build/a*", count=3)]
    review = submit(agent, run, build_plan(build_step(*calls, paths=["build"])))
    planned = review["content"]["steps"][0]["calls"]
    assert [call["covered"] for call in planned] == [True, False, True]
    assert [bool(call["rules"]) for call in planned] == [False, True, True]
    assert review["severity"] == "medium"
    (entry,) = list_entries(manager, run, "plan.submitted")
    assert (entry["calls"], entry["asking"]) == (3, 3)


def test_it_takes_as_many_people_as_its_calls(
    agent: httpx.Client, reviewer: httpx.Client, manager: httpx.Client, careful: str
) -> None:
    run = start_run(agent, policy=careful)
    pushed = bash("git push --force origin topic")
    review = submit(agent, run, build_plan(build_step(pushed)))
    assert review["approvals"] == {"needed": 2, "given": 0}
    assert rule_plan(reviewer, review).status_code == 202
    assert list_plans(agent, run)[0]["state"] == "submitted"
    assert rule_plan(manager, review).status_code == 200
    assert command(agent, run, pushed["command"])["decision"] == "allow"
    assert_sound(run)


def test_what_one_changed_two_others_approve(
    agent: httpx.Client,
    reviewer: httpx.Client,
    manager: httpx.Client,
    admin: httpx.Client,
    careful: str,
) -> None:
    run = start_run(agent, policy=careful)
    kept = build_step(bash("git push --force origin topic"))
    review = submit(agent, run, build_plan(kept, build_step(bash("rm -rf a"))))
    changed: dict[str, Any] = {"steps": [kept]}
    assert rule_plan(reviewer, review, "amend", amended=changed).status_code == 202
    assert rule_plan(manager, review).status_code == 202
    assert rule_plan(admin, review).status_code == 200
    (plan,) = list_plans(agent, run)
    assert (plan["state"], plan["amended"], len(plan["steps"])) == ("standing", True, 1)
    assert command(agent, run, "rm -rf a")["decision"] == "require-confirmation"
    assert_sound(run)


def test_nobody_adds_alone_what_takes_two(
    agent: httpx.Client, reviewer: httpx.Client, careful: str
) -> None:
    run = start_run(agent, policy=careful)
    review = submit(agent, run, DELETING)
    pushed = build_step(bash("git push --force origin topic"))
    refused = rule_plan(reviewer, review, "amend", amended={"steps": [pushed]})
    assert (refused.status_code, slug(refused)) == (422, "invalid")
    assert "more people" in refused.json()["detail"]


def test_plans_are_not_approved_in_bulk(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    items = []
    for _ in range(2):
        review = submit(agent, start_run(agent), DELETING)
        named = ("id", "version", "content_digest")
        items.append({name: review[name] for name in named})
    refused = reviewer.post(
        "/reviews/bulk-ruling", json={"items": items, "action": "approve"}
    )
    assert refused.status_code == 422, refused.text
    denied = reviewer.post(
        "/reviews/bulk-ruling",
        json={"items": items, "action": "deny", "note": "Later."},
    )
    assert denied.status_code == 200, denied.text


def test_secrets_in_its_words_and_calls_are_not_kept(agent: httpx.Client) -> None:
    key = "AKIA" + "Q7ZK3M5XW2VB9TNL"
    step = build_step(
        bash(f"aws configure set aws_access_key_id {key}"),
        bash(f"grep {key} notes-1", shape="shape"),
        purpose=key,
    )
    review = submit(agent, start_run(agent), build_plan(step, title=f"Use {key}"))
    stored = Review.objects.get(code=review["id"])
    assert key not in stored.content + stored.title
    assert key not in str(review)
    for call in review["content"]["steps"][0]["calls"]:
        assert (call["covered"], call["key"], call["shape_key"]) == (False, "", "")


def test_a_path_with_a_secret_is_refused_and_not_told(agent: httpx.Client) -> None:
    key = "AKIA" + "Q7ZK3M5XW2VB9TNL"
    step = build_step(bash("ls build"), paths=[f"build/{key}"])
    refused = agent.post(f"/runs/{start_run(agent)}/plans", json=build_plan(step))
    assert fields(problem(refused, "invalid")) == ["steps.0.paths.0"]
    assert key not in refused.text


def test_it_ends_with_its_run(agent: httpx.Client, reviewer: httpx.Client) -> None:
    run = start_run(agent)
    approve(agent, reviewer, run, DELETING)
    command(agent, run, "rm -rf a")
    agent.post(f"/runs/{run}/finish", json={"outcome": "completed"})
    (plan,) = list_plans(reviewer, run)
    assert (plan["state"], plan["steps"][0]["used"]) == ("run_ended", 1)
    assert_sound(run)
