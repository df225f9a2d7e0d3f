"""Of the loop an agent reads what it sent itself, and nothing of others' runs."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from accounts.models import Project
from loop.control.clock import run_cycle
from tests.conftest import client_for
from tests.support.builders import make_robot, start_run
from tests.support.live import Live
from tests.support.problems import problem


@pytest.fixture
def other(live: Live, project: Project) -> Iterator[httpx.Client]:
    with client_for(live, make_robot("other", project=project)) as client:
        yield client


def fail_run(client: httpx.Client, summary: str) -> str:
    run = start_run(client)
    body = {"outcome": "failed", "summary": summary}
    assert client.post(f"/runs/{run}/finish", json=body).status_code == 200
    return run


def signal(client: httpx.Client) -> str:
    told = {"type": "system/note", "data": {"about": "the release"}}
    decision: str = client.post("/loop/signals", json=told).json()["decision_id"]
    return decision


def list_logged(client: httpx.Client, decision: str) -> list[str]:
    answer = client.get(f"/loop/decisions/{decision}")
    assert answer.status_code == 200, answer.text
    (listed,) = (
        each
        for each in client.get("/loop/decisions").json()["items"]
        if each["decision_id"] == decision
    )
    assert listed["snapshot"] == answer.json()["snapshot"]
    log = answer.json()["snapshot"]["recent_log_entries"]
    assert log["at"]
    return [each["run"] for each in log["value"]]


def test_a_decision_names_the_runs_of_others_to_people_alone(
    agent: httpx.Client, other: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    mine, theirs = fail_run(agent, "mine"), fail_run(other, "theirs")
    decision = signal(agent)
    run_cycle(project.pk)

    assert list_logged(agent, decision) == [mine]
    assert set(list_logged(manager, decision)) == {mine, theirs}
    problem(other.get(f"/loop/decisions/{decision}"), "not-found")
    assert decision not in other.get("/loop/decisions").text


def test_what_another_agent_sent_is_not_there(
    agent: httpx.Client, other: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    note = agent.post("/loop/notes", json={"text": "mine"}).json()["id"]
    change = {"set": {"continue": {"max_rework_ratio": 0.4}}}
    made = agent.post("/loop/recommendations", json={"title": "t", "change": change})
    decision = signal(agent)
    run_cycle(project.pk)
    for path, code in (("notes", note), ("recommendations", made.json()["id"])):
        assert code in agent.get(f"/loop/{path}").text
        assert code in manager.get(f"/loop/{path}").text
        assert other.get(f"/loop/{path}").json()["items"] == []
    for end in ("done", "failed"):
        problem(other.post(f"/loop/notes/{note}/{end}", json={}), "not-found")
    report = {"outcome": "succeeded"}
    path = f"/loop/decisions/{decision}/outcome"
    problem(other.post(path, json=report), "not-found")
    problem(other.get("/loop/incidents"), "forbidden")
    assert manager.get("/loop/incidents").status_code == 200
