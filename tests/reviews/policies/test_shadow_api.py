"""A draft beside its policy, by the API: started, looked at, stopped."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.utils import timezone

from accounts.models import Project
from reviews.policies.services import create_version
from reviews.policies.shadow.running import refresh_shadows
from tests.gateway.calls.calls import command
from tests.support.builders import start_run, step
from tests.support.problems import fields, problem

DRAFT: dict[str, Any] = {
    "continue": {"max_rework_ratio": 0.25},
    "tools": {"rules": {"git-push-force": "warn"}},
}


@pytest.fixture
def version(project: Project) -> int:
    made = create_version(project_id=project.pk, name="default", document=DRAFT)
    return made.version.version


def start(manager: httpx.Client, version: int, **more: Any) -> dict[str, Any]:
    body = {"version": version, "note": "Would it help?", **more}
    answer = manager.post("/policies/default/shadow", json=body)
    assert answer.status_code == 201, answer.text
    shadow: dict[str, Any] = answer.json()
    return shadow


def work(agent: httpx.Client) -> str:
    """Eight steps, of which the draft pauses one, and three calls, of which it asks about
    one less."""
    run = start_run(agent)
    for number, rework in enumerate((0, 1, 0, 0, 0, 0, 1, 0), 1):
        body = step(number, rework=bool(rework), summary=f"Step {number}")
        agent.post(f"/runs/{run}/steps", json=body)
    for text in ("ls", "git push --force", "rm -rf src"):
        command(agent, run, text)
    refresh_shadows()
    return run


def test_what_was_seen_is_counted_by_gate_and_move(
    agent: httpx.Client, manager: httpx.Client, version: int
) -> None:
    shadow = start(manager, version)
    assert (shadow["state"], shadow["end"], shadow["judged"]) == ("running", None, 0)
    run = work(agent)

    seen = manager.get(f"/shadows/{shadow['id']}").json()

    assert seen["judged"] == 11
    assert seen["same"] == {"step": 7, "call": 2}
    assert (seen["changed"], seen["runs_changed"], seen["unknown"]) == (2, 1, 0)
    assert seen["moves"] == {
        "continue→pause": 1,
        "require-confirmation→warn": 1,
    }
    assert seen["by_gate"] == {"rework": 1, "destructive": 1}
    assert seen["by_rule"] == [
        {"gate": "destructive", "rule": "git-push-force", "softer": 1, "stricter": 0},
        {"gate": "rework", "rule": None, "softer": 0, "stricter": 1},
    ]
    assert (seen["would_have_asked"], seen["would_not_have_asked"]) == (1, 1)
    newest, oldest = seen["examples"]
    assert (newest["subject"], newest["kind"]) == ("git push --force", "call")
    assert (oldest["run"], oldest["step"], oldest["seq"]) == (run, 7, 8)
    assert oldest["before"] == {"decision": "continue", "findings": []}
    assert oldest["after"]["findings"][0]["gate"] == "rework"


@pytest.mark.parametrize(
    ("query", "subjects"),
    [
        ({}, ["git push --force", "Step 7"]),
        ({"kind": "step"}, ["Step 7"]),
        ({"gate": "destructive"}, ["git push --force"]),
        ({"rule": "git-push-force"}, ["git push --force"]),
        ({"move": "continue→pause"}, ["Step 7"]),
        ({"asks": "less"}, ["git push --force"]),
        ({"outcome": "changed"}, ["git push --force", "Step 7"]),
        ({"outcome": "unknown"}, []),
    ],
)
def test_items_are_found_by_what_they_are(
    agent: httpx.Client,
    manager: httpx.Client,
    version: int,
    query: dict[str, str],
    subjects: list[str],
) -> None:
    code = start(manager, version)["id"]
    work(agent)
    page = manager.get(f"/shadows/{code}/items", params=query).json()
    assert [each["subject"] for each in page["items"]] == subjects
    assert page["total"] == len(subjects)


def test_items_come_page_by_page(
    agent: httpx.Client, manager: httpx.Client, version: int
) -> None:
    code = start(manager, version)["id"]
    work(agent)
    first = manager.get(f"/shadows/{code}/items", params={"limit": 1}).json()
    query = {"limit": 1, "cursor": first["next_cursor"]}
    second = manager.get(f"/shadows/{code}/items", params=query).json()
    subjects = [each["items"][0]["subject"] for each in (first, second)]
    assert subjects == ["git push --force", "Step 7"]
    assert second["next_cursor"] is None
    problem(manager.get(f"/shadows/{code}/items", params={"what": "1"}), "invalid")


def test_one_at_a_time_and_stopped_once(manager: httpx.Client, version: int) -> None:
    code = start(manager, version)["id"]
    body = {"version": version}
    refused = manager.post("/policies/default/shadow", json=body)
    assert problem(refused, "shadow-running")["shadow"] == code
    stopped = manager.post(f"/shadows/{code}/stop", json={"note": "Seen enough"}).json()
    assert (stopped["state"], stopped["end"]) == ("ended", "stopped")
    problem(manager.post(f"/shadows/{code}/stop", json={}), "unchanged")
    again = start(manager, version)
    listed = manager.get("/policies/default/shadows").json()["items"]
    assert [each["id"] for each in listed] == [again["id"], code]


def test_it_ends_when_it_is_told_to(manager: httpx.Client, version: int) -> None:
    until = timezone.now() + timedelta(days=2)
    shadow = start(manager, version, until=until.isoformat())
    assert shadow["ends_at"][:13] == until.strftime("%Y-%m-%dT%H")


@pytest.mark.parametrize("days", [-1, 40])
def test_a_time_that_makes_no_sense_is_refused(
    manager: httpx.Client, version: int, days: int
) -> None:
    until = (timezone.now() + timedelta(days=days)).isoformat()
    body = {"version": version, "until": until}
    answer = manager.post("/policies/default/shadow", json=body)
    assert fields(problem(answer, "invalid")) == ["until"]


def test_what_is_not_there_or_in_force_already_is_refused(
    manager: httpx.Client, version: int
) -> None:
    for number, slug in ((1, "unchanged"), (99, "not-found")):
        answer = manager.post("/policies/default/shadow", json={"version": number})
        problem(answer, slug)
    problem(manager.get("/policies/absent/shadows"), "not-found")
