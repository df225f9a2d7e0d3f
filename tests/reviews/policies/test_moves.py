"""Runs in progress go on under a new version, where its activation says so."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from django.core.management import call_command

from accounts.models import Project, Role
from guidance.models import Policy, PolicyVersion
from guidance.selectors import get_policy
from ledger.models import Entry, Run
from ledger.state import build_state
from ledger.verification.replay import replay_run
from ledger.writer import get_writer
from reviews.policies import moves
from reviews.policies.moves import (
    MoveRun,
    NotMoved,
    find_next_version,
    move_running_runs,
)
from reviews.policies.services import create_version
from tests.conftest import client_for
from tests.gateway.calls.calls import command
from tests.support.builders import (
    Person,
    make_person,
    make_policy,
    make_project,
    make_robot,
    pause_at_once,
    start_run,
    step,
)
from tests.support.live import Live
from tests.support.people import rule
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


def get_version(run: str) -> tuple[str, int]:
    policy = Run.objects.select_related("policy").get(code=run).policy
    return policy.name, policy.version


def list_movers(run: str) -> list[str]:
    """Who moved it, in order."""
    moved = Entry.objects.filter(run__code=run, type="run.policy_changed")
    return list(moved.order_by("seq").values_list("actor", flat=True))


def stop(agent: httpx.Client, **more: Any) -> str:
    """A run whose own budget is used up."""
    run = start_run(agent, budget={"tokens": 10}, **more)
    answer = agent.post(f"/runs/{run}/steps", json=step(1))
    assert answer.json()["decision"] == "stop", answer.text
    return run


def make_ready(agent: httpx.Client, reviewer: httpx.Client, count: int) -> list[str]:
    """Runs that wait for a person while a version is activated for runs in progress, and
    for nobody any more: each is the next sweep's."""
    runs = [start_run(agent) for _ in range(count)]
    reviews = [pause_at_once(agent, run) for run in runs]
    project = Run.objects.get(code=runs[0]).project
    create_version(
        project_id=project.pk,
        name="default",
        document=STRICT,
        activate=True,
        apply_to_running=True,
    )
    for review in reviews:
        rule(reviewer, review, "approve")
    return runs


def test_in_a_crowded_world_only_runs_in_progress_of_this_policy_are_moved(
    live: Live, agent: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    elsewhere = make_project()
    make_policy("loose", project=project, checks={"max_resets": 1})
    with client_for(live, make_robot(project=elsewhere)) as neighbour:
        theirs = start_run(neighbour)
    paused, asking, ended = (start_run(agent) for _ in range(3))
    pause_at_once(agent, paused)
    assert command(agent, asking)["review"]
    agent.post(f"/runs/{ended}/finish", json={"outcome": "completed"})
    strange, stays = start_run(agent), start_run(agent, policy="loose")
    stopped = stop(agent)
    # What no writer stores: such a row is for those who verify, and for no sweep.
    own = Run.objects.get(code=strange).policy
    Run.objects.filter(code=strange).update(policy=Run.objects.get(code=theirs).policy)
    runs = [start_run(agent) for _ in range(2)]
    chain = Run.objects.get(project=project, intent="system-policies")

    activate(manager, apply_to_running=True)

    assert [get_version(run) for run in runs] == [("default", 2)] * 2
    kept = [theirs, paused, asking, ended, stopped, strange, str(chain.code)]
    assert [get_version(run) for run in kept] == [("default", 1)] * len(kept)
    assert get_version(stays) == ("loose", 1)
    left = (*kept, stays)
    assert not Entry.objects.filter(
        run__code__in=left, type="run.policy_changed"
    ).exists()
    Run.objects.filter(code=strange).update(policy=own)
    for run in (*runs, *left):
        check_run(run)


@pytest.mark.parametrize("state", ["stopped", "paused", "asking", "moved"])
def test_whoever_is_to_move_a_run_looks_again(
    agent: httpx.Client, manager: httpx.Client, project: Project, state: str
) -> None:
    """It may have ended, or asked somebody, since it was found."""
    run = stop(agent) if state == "stopped" else start_run(agent)
    if state == "paused":
        pause_at_once(agent, run)
    activate(manager, apply_to_running=True)
    if state == "asking":  # only a run of the server's own goes on meanwhile
        make_policy("default", project=project, four_eyes={"policy": True})
        waits = manager.post("/policies/default/versions/2/activate", json={})
        assert waits.json()["review"]
        run = str(Run.objects.get(project=project, intent="system-policies").code)
    before = check_run(run)
    status = state if state in {"stopped", "paused"} else "running"
    assert (before.status, before.open_reviews != "[]") == (
        status,
        state in {"paused", "asking"},
    )
    version = PolicyVersion.objects.get(project=project, name="default", version=2)
    request = MoveRun(run_code=run, policy=get_policy(version.pk), actor="system:x")
    with pytest.raises(NotMoved):
        get_writer().perform_now(request)
    after = check_run(run)
    assert (after.policy, after.head_seq) == (before.policy, before.head_seq)


def test_the_newest_activation_says_whether_and_by_whom(
    live: Live,
    agent: httpx.Client,
    manager: httpx.Client,
    reviewer: httpx.Client,
    project: Project,
) -> None:
    run = start_run(agent)
    review = pause_at_once(agent, run)
    activate(manager, apply_to_running=True)
    activate(manager, document={"checks": {"max_resets": 1}})
    rule(reviewer, review, "approve")
    assert move_runs(run) == 0
    assert find_next_version(build_state(Run.objects.get(code=run))) is None
    assert get_version(run) == ("default", 1)

    review = pause_at_once(agent, run, number=2)
    activate(manager, document=STRICT, apply_to_running=True)
    erin = make_person("erin", role=Role.MANAGER, project=project)
    with client_for(live, erin) as second:
        document = {"checks": {"max_resets": 2}}
        activate(second, document=document, apply_to_running=True)
    rule(reviewer, review, "approve")
    assert move_runs(run) == 1
    assert get_version(run) == ("default", 5)
    assert list_movers(run) == [f"user:{erin.user.code}"]
    check_run(run)


def test_the_sweep_takes_all_policies_or_one_and_some_runs_at_a_time(
    live: Live,
    agent: httpx.Client,
    reviewer: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(moves, "SWEEP_LIMIT", 2)
    elsewhere = make_project()
    bob = make_person("bob", role=Role.REVIEWER, project=elsewhere)
    with (
        client_for(live, make_robot(project=elsewhere)) as neighbour,
        client_for(live, bob) as their_reviewer,
    ):
        (theirs,) = make_ready(neighbour, their_reviewer, 1)
    runs = make_ready(agent, reviewer, 3)

    assert move_runs(runs[0]) == 2
    assert sorted(get_version(run)[1] for run in runs) == [1, 2, 2]
    assert get_version(theirs) == ("default", 1)
    assert move_running_runs() >= 2
    assert {get_version(run) for run in (*runs, theirs)} == {("default", 2)}
    for run in (*runs, theirs):
        assert list_movers(run) == ["system:system-policies"]
        check_run(run)


def reopen(manager: httpx.Client, run: str) -> list[str]:
    """Let it go on; returns the types of its newest entries."""
    body = {"reason": "More", "budget": {"tokens": 10**6}}
    answer = manager.post(f"/runs/{run}/reopen", json=body)
    assert answer.status_code == 200, answer.text
    entries = Entry.objects.filter(run__code=run).order_by("seq")
    return list(entries.values_list("type", flat=True))[-2:]


def test_a_stopped_run_is_reopened_under_the_version_for_runs_in_progress(
    agent: httpx.Client, manager: httpx.Client, alice: Person
) -> None:
    run = stop(agent)
    activate(manager, apply_to_running=True)
    assert reopen(manager, run) == ["run.reopened", "run.policy_changed"]
    assert get_version(run) == ("default", 2)
    assert list_movers(run) == [f"user:{alice.user.code}"]
    check_run(run)


def test_a_stopped_run_is_reopened_under_its_own_version_where_none_is_for_it(
    live: Live, agent: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    """Not for runs in progress; of another policy; of another project; its own."""
    old, other = stop(agent), {"checks": {"max_resets": 1}}
    activate(manager)
    new = stop(agent)
    elsewhere = make_project()
    for place, name, document in (
        (project, "loose", other),
        (elsewhere, "default", STRICT),
    ):
        create_version(
            project_id=place.pk,
            name=name,
            document=document,
            activate=True,
            apply_to_running=True,
        )
    assert reopen(manager, old)[-1] == "run.reopened"
    assert get_version(old) == ("default", 1)
    activate(manager, document=other)
    restored = manager.post(
        "/policies/default/versions/2/activate", json={"apply_to_running": True}
    )
    assert restored.status_code == 200, restored.text
    assert reopen(manager, new)[-1] == "run.reopened"
    assert get_version(new) == ("default", 2)
    for run in (old, new):
        check_run(run)
