"""Runs in progress go on under a new version, where its activation says so."""

from __future__ import annotations

from typing import Any

import httpx
from django.core.management import call_command

from accounts.models import Project
from guidance.models import Policy
from ledger.models import Run
from ledger.verification.replay import replay_run
from reviews.policies.moves import move_running_runs
from tests.gateway.calls.calls import command
from tests.support.builders import pause_at_once, start_run, step
from tests.support.problems import problem

STRICT: dict[str, Any] = {"continue": {"max_uncertainty": 0.1}}


def activate(manager: httpx.Client, **more: Any) -> None:
    body = {"document": STRICT, "activate": True, **more}
    answer = manager.post("/policies/default/versions", json=body)
    assert answer.status_code == 201, answer.text


def report(agent: httpx.Client, run: str, number: int) -> dict[str, Any]:
    answer = agent.post(f"/runs/{run}/steps", json=step(number, uncertainty=0.5))
    assert answer.status_code == 201, answer.text
    decision: dict[str, Any] = answer.json()
    return decision


def move_runs(run: str) -> int:
    """As the sweep does, for this run's policy alone."""
    project = Run.objects.get(code=run).project
    policy = Policy.objects.get(project=project, name="default")
    return move_running_runs(policy_id=policy.pk)


def check_run(code: str) -> Run:
    run = Run.objects.select_related("policy").get(code=code)
    call_command("ledger_verify", run=code)
    assert replay_run(run).difference is None
    return run


def test_a_run_keeps_the_version_that_it_began_with(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    run = start_run(agent)
    activate(manager)
    assert report(agent, run, 1)["decision"] == "continue"
    assert move_runs(run) == 0
    assert check_run(run).policy.version == 1


def test_where_it_is_said_runs_in_progress_go_on_under_it(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    run = start_run(agent)
    assert report(agent, run, 1)["policy"]["version"] == 1
    activate(manager, apply_to_running=True)
    decision = report(agent, run, 2)
    assert (decision["decision"], decision["policy"]["version"]) == ("pause", 2)
    moved = check_run(run)
    assert moved.policy.version == 2
    assert moved.entries.filter(type="run.policy_changed").count() == 1
    assert move_runs(run) == 0


def test_what_waits_for_a_person_is_moved_after_the_ruling(
    agent: httpx.Client, manager: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    review = pause_at_once(agent, run)
    ended = start_run(agent)
    agent.post(f"/runs/{ended}/finish", json={"outcome": "completed"})
    activate(manager, apply_to_running=True)
    assert check_run(run).policy.version == 1
    shown = reviewer.get(f"/reviews/{review}").json()
    ruling = {
        "action": "approve",
        "version": shown["version"],
        "content_digest": shown["content_digest"],
    }
    assert reviewer.post(f"/reviews/{review}/ruling", json=ruling).status_code == 200
    assert move_runs(run) == 1
    assert check_run(run).policy.version == 2
    assert check_run(ended).policy.version == 1


def test_a_row_that_names_another_version_is_found(
    agent: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    run = start_run(agent)
    first = Run.objects.get(code=run).policy
    activate(manager, apply_to_running=True)
    row = check_run(run)
    Run.objects.filter(pk=row.pk).update(policy=first)
    found = replay_run(Run.objects.get(pk=row.pk)).difference
    assert "the run's policy" in str(found)
    Run.objects.filter(pk=row.pk).update(policy=row.policy)
    problem(manager.post("/policies/default/versions/2/activate", json={}), "unchanged")


def test_calls_of_a_run_that_was_moved_are_judged_by_the_new_version(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    run = start_run(agent)
    assert command(agent, run, "ls")["policy"]["version"] == 1
    document = {"tools": {"rules": {"git-push-force": "block"}}}
    body = {"document": document, "activate": True, "apply_to_running": True}
    assert manager.post("/policies/default/versions", json=body).status_code == 201
    call = command(agent, run, "git push --force")
    assert (call["decision"], call["policy"]["version"]) == ("block", 2)
    check_run(run)
