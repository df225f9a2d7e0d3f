"""Agents that wait are told of a halt, and go on waiting for its release."""

from __future__ import annotations

import httpx
import pytest

from accounts.models import Project
from ledger.models import Run
from ledger.waiting import halts as watched
from ledger.waiting import hub
from ledger.writer.halts import ProjectHalts, read_halts
from tests.conftest import client_for
from tests.reviews.halts.halting import halt, release
from tests.support.builders import make_robot, pause_at_once, start_run
from tests.support.live import Live
from tests.support.people import rule
from tests.support.problems import problem
from tests.support.waiting import park

AGENTS = 5


def test_whoever_is_parked_is_told_and_the_halts_are_read_once(
    live: Live,
    project: Project,
    reviewer: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    robot = make_robot("one", project=project)
    with client_for(live, robot) as client:
        runs = [start_run(client) for _ in range(AGENTS)]
        for run in runs:
            pause_at_once(client, run)
        parked = [park(client, run) for run in runs]
        reads: list[int] = []

        def read(project_id: int) -> ProjectHalts:
            reads.append(project_id)
            return read_halts(project_id)

        monkeypatch.setattr(watched, "read_halts", read)
        made = halt(reviewer, {"agent": "one"}, reason="Wait")
        for answer in parked:
            told = problem(answer.result(timeout=30), "halted")
            assert told["halt"]["id"] == made["id"]
    assert reads == [project.pk]


def test_others_are_not_woken(
    live: Live, project: Project, agent: httpx.Client, reviewer: httpx.Client
) -> None:
    make_robot("one", project=project)
    run = start_run(agent)
    review = pause_at_once(agent, run)
    parked = park(agent, run)
    halt(reviewer, {"agent": "one"})
    rule(reviewer, review, "approve")
    assert parked.result(timeout=30).json()["ruling"]["action"] == "approve"


def test_who_comes_while_it_is_halted_waits_for_the_release(
    agent: httpx.Client, manager: httpx.Client
) -> None:
    run = start_run(agent)
    review = pause_at_once(agent, run)
    made = halt(manager)
    at_once = agent.get(f"/runs/{run}/decision")
    problem(at_once, "halted")
    parked = park(agent, run, f"&review={review}")
    rule(manager, review, "approve")
    assert not parked.done()
    release(manager, made)
    body = parked.result(timeout=30).json()
    assert body["ruling"]["action"] == "approve"


def test_a_run_that_is_over_says_so(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    halt(reviewer)
    aborted = reviewer.post(f"/runs/{run}/abort", json={"reason": "Enough"})
    assert aborted.status_code == 200
    told = agent.get(f"/runs/{run}/decision?wait=20").json()
    assert told["run_status"] == "aborted"


def test_a_lost_message_is_found_by_the_next_look(
    agent: httpx.Client, reviewer: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start_run(agent)
    pause_at_once(agent, run)
    parked = park(agent, run)
    with monkeypatch.context() as deaf:
        deaf.setattr(hub.Hub, "_on_commit", lambda *_: None)
        deaf.setattr(hub.Hub, "_change_halts", lambda *_: None)
        halt(reviewer)
    problem(parked.result(timeout=30), "halted")
    assert Run.objects.get(code=run).status == "paused"
