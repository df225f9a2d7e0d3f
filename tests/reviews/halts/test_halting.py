"""A halt stops steps, calls, claims and new runs of its scope, and nothing else."""

from __future__ import annotations

import httpx

from accounts.models import Project
from ledger.models import Halt, Run
from ledger.verification.row_checks import compare_runs
from ledger.verification.verify import verify_run
from tests.conftest import client_for
from tests.reviews.administration.entries import list_changes
from tests.reviews.halts.halting import halt, release
from tests.support.builders import (
    Person,
    make_robot,
    pause_at_once,
    start_run,
    step,
)
from tests.support.live import Live
from tests.support.people import rule
from tests.support.problems import problem


def test_whatever_would_go_on_is_refused_and_told_why(
    agent: httpx.Client, reviewer: httpx.Client, manager: httpx.Client, bob: Person
) -> None:
    run = start_run(agent)
    call = agent.post(
        f"/runs/{run}/tool-calls", json={"kind": "command", "command": "ls"}
    ).json()
    claim = (
        f"/runs/{run}/tool-calls/{call['id']}/claim",
        {"digest": call["digest"]},
    )
    asked = [
        ("/runs", {"task": "Another"}),
        (f"/runs/{run}/steps", step(1)),
        (f"/runs/{run}/tool-calls", {"kind": "command", "command": "ls"}),
        claim,
    ]
    made = halt(reviewer, reason="The tests delete data")
    assert (made["state"], made["by"]) == ("standing", bob.user.username)
    expected = {key: made[key] for key in ("id", "reason", "by", "at")}
    before = agent.get(f"/runs/{run}").json()
    for _ in range(2):  # by what was read, and by what is remembered
        for path, body in asked:
            answer = agent.post(path, json=body)
            assert problem(answer, "halted")["halt"] == expected
            assert answer.headers["Retry-After"] == "5"
    assert agent.get(f"/runs/{run}").json() == before
    assert before["status"] == "running"

    released = release(manager, made)
    assert (released["state"], released["release_reason"]) == ("released", "Fine")
    for path, body in asked:
        assert agent.post(path, json=body).status_code in {200, 201}, path


def test_what_is_done_already_may_be_told(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    assert agent.post(f"/runs/{run}/steps", json=step(1)).status_code == 201
    call = agent.post(
        f"/runs/{run}/tool-calls", json={"kind": "command", "command": "ls"}
    ).json()
    path = f"/runs/{run}/tool-calls/{call['id']}"
    claimed = agent.post(f"{path}/claim", json={"digest": call["digest"]})
    assert claimed.status_code == 200
    halt(reviewer)
    assert agent.post(f"{path}/result", json={"ok": True}).status_code == 200
    saved = agent.post(f"/runs/{run}/checkpoints", json={"step": 1, "state": {}})
    assert saved.status_code == 201
    again = agent.post(f"/runs/{run}/steps", json=step(1))
    assert again.headers["Idempotency-Replayed"] == "true"
    done = agent.post(f"/runs/{run}/finish", json={"outcome": "completed"})
    assert done.status_code == 200


def test_people_may_rule_meanwhile(agent: httpx.Client, reviewer: httpx.Client) -> None:
    run = start_run(agent)
    review = pause_at_once(agent, run)
    halt(reviewer)
    rule(reviewer, review, "approve")
    problem(agent.post(f"/runs/{run}/steps", json=step(2)), "halted")


def test_a_scope_holds_no_more_than_it_says(
    live: Live, project: Project, agent: httpx.Client, manager: httpx.Client
) -> None:
    other = make_robot("other", project=project)
    with client_for(live, other) as their:
        parent = start_run(agent, labels={"team": "shop:eu"})
        child = start_run(agent, parent_run=parent)
        plain = start_run(their)
        numbers = dict.fromkeys((parent, child, plain), 0)

        def list_held() -> set[str]:
            held = set()
            for run, client in ((parent, agent), (child, agent), (plain, their)):
                body = step(numbers[run] + 1)
                answer = client.post(f"/runs/{run}/steps", json=body)
                if answer.status_code == 201:
                    numbers[run] += 1
                else:
                    problem(answer, "halted")
                    held.add(run)
            return held

        for scope, held in (
            ({"agent": "robo"}, {parent, child}),
            ({"agent": "other"}, {plain}),
            ({"label": "team:shop:eu"}, {parent}),
            ({"label": "team:shop"}, set()),
            ({"run": parent}, {parent}),
            ({"run": parent, "children": True}, {parent, child}),
            ({"run": child, "children": True}, {child}),
            ({"project": True}, {parent, child, plain}),
        ):
            made = halt(manager, scope)
            assert list_held() == held, scope
            release(manager, made)
            assert list_held() == set()


def test_a_child_of_a_halted_run_is_not_started(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    parent = start_run(agent)
    halt(reviewer, {"run": parent, "children": True})
    body = {"task": "Below", "parent_run": parent}
    problem(agent.post("/runs", json=body), "halted")
    start_run(agent)


def test_a_project_is_released_but_for_some(
    live: Live, project: Project, agent: httpx.Client, manager: httpx.Client
) -> None:
    other = make_robot("other", project=project)
    made = halt(manager, reason="All of it")
    release(manager, made, keep=[{"agent": "other"}, {"label": "risk:high"}])
    start_run(agent)
    problem(
        agent.post("/runs", json={"task": "Risky", "labels": {"risk": "high"}}),
        "halted",
    )
    with client_for(live, other) as their:
        told = problem(their.post("/runs", json={"task": "Theirs"}), "halted")
    assert told["halt"]["reason"] == "All of it"
    standing = manager.get("/halts", params={"state": "standing"}).json()["items"]
    assert [each["scope"]["label"] for each in standing] == ["risk:high", None]


def test_each_stands_in_the_chain_and_is_checked(
    project: Project, reviewer: httpx.Client, manager: httpx.Client
) -> None:
    made = halt(reviewer, reason="password=Zx81hunter2 leaked")
    assert "Zx81hunter2" not in made["reason"]
    problem(
        reviewer.post("/halts", json={"scope": {"project": True}, "reason": "Again"}),
        "unchanged",
    )
    release(manager, made)
    path = f"/halts/{made['id']}"
    again = manager.request("DELETE", path, json={"reason": "Again"})
    problem(again, "unchanged")
    assert [kind for kind, _, _ in list_changes(project)] == [
        "halt.started",
        "halt.released",
    ]
    chain = Run.objects.get(project=project, intent="system-settings")
    assert verify_run(chain).ok
    assert compare_runs([chain]) == []
    rows = Halt.objects.filter(code=made["id"])
    rows.update(released_at=None)
    (fault,) = compare_runs([chain])
    assert "released_at" in fault.reason


def test_what_cannot_be_meant_is_refused(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    for scope in (
        {},
        {"project": False},
        {"project": True, "agent": "robo"},
        {"agent": "nobody"},
        {"label": "team"},
        {"agent": "robo", "children": True},
        {"run": run, "more": 1},
    ):
        body = {"scope": scope, "reason": "x"}
        problem(reviewer.post("/halts", json=body), "invalid")
    body = {"scope": {"run": run}, "reason": " "}
    problem(reviewer.post("/halts", json=body), "invalid")
