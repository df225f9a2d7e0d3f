"""What actions take up: notes, recommendations, incidents; and what came of events."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.utils import timezone

from accounts.models import Project
from guidance.models import PolicyVersion
from guidance.selectors import get_policy
from guidance.services import get_policy_in_force
from loop.control.clock import run_cycle
from loop.models import Incident, Note, ProjectLoop
from tests.loop.saying import (
    FAILED,
    events,
    get_decision,
    loop_policy,
    outcome,
    send,
    sound,
)
from tests.support.builders import make_policy
from tests.support.problems import problem

pytestmark = pytest.mark.once("forms of requests; the same writer stores them")


def note(client: httpx.Client, text: str = "Look at the flaky test") -> dict[str, Any]:
    answer = client.post("/loop/notes", json={"text": text, "data": {"from": "chat"}})
    assert answer.status_code == 201, answer.text
    told: dict[str, Any] = answer.json()
    return told


def test_notes_are_claimed_together_and_confirmed_one_by_one(
    agent: httpx.Client, project: Project
) -> None:
    first, second = note(agent), note(agent, "Another one")
    run_cycle(project.pk)
    told = get_decision(agent, first["decision_id"])
    assert (told["action"], told["outcome"]) == ("process_notes", "emitted")
    assert told["event"]["parameters"]["notes"] == [first["id"], second["id"]]
    # The second note's own trigger finds nothing left to do.
    assert get_decision(agent, second["decision_id"])["outcome"] == "noop"
    claimed = agent.get("/loop/notes?state=claimed").json()["items"]
    assert [item["decision_id"] for item in claimed] == [told["decision_id"]] * 2
    path, key = f"/loop/notes/{first['id']}/done", {"Idempotency-Key": "done-1"}
    done = agent.post(path, json={}, headers=key)
    assert done.json()["state"] == "done"
    again = agent.post(path, json={}, headers=key)
    assert again.content == done.content
    assert again.headers["idempotency-replayed"] == "true"
    assert agent.post(path, json={}).status_code == 200
    failed = {"reason": "No such test"}
    told = agent.post(f"/loop/notes/{second['id']}/failed", json=failed).json()
    assert (told["state"], told["reason"]) == ("failed", "No such test")
    problem(agent.post(f"/loop/notes/{second['id']}/done", json={}), "invalid")
    assert agent.get("/loop/notes?state=queued").json()["items"] == []
    sound(project)


def test_a_claim_that_nobody_confirms_goes_back_to_the_queue(
    agent: httpx.Client, project: Project
) -> None:
    loop_policy(project, note_claim_s=600, rules=[])
    code = note(agent)["id"]
    problem(agent.post(f"/loop/notes/{code}/done", json={}), "invalid")  # not claimed
    rule = {"name": "n", "when": {}, "do": "process_notes", "reason": "so"}
    loop_policy(project, note_claim_s=600, rules=[rule])
    run_cycle(project.pk)
    rows = Note.objects.filter(code=code)
    assert rows.get().state == "claimed"
    rows.update(claimed_until=timezone.now() - timedelta(seconds=1))
    # Given back, and by the very same look taken up again.
    told = outcome(agent, project)
    assert told["event"]["parameters"]["notes"] == [code]
    assert (rows.get().state, rows.get().claims) == ("claimed", 2)
    rows.update(state="queued", claimed_until=None)
    late = agent.post(f"/loop/notes/{code}/done", json={})
    assert late.json()["state"] == "done"  # work that is done is done
    sound(project)


def test_no_more_notes_are_claimed_than_the_policy_says(
    agent: httpx.Client, project: Project
) -> None:
    rule = {"name": "n", "when": {}, "do": "process_notes", "reason": "so"}
    loop_policy(project, notes_at_once=2, rules=[rule])
    codes = [note(agent, f"n {number}")["id"] for number in range(5)]
    run_cycle(project.pk)
    claims = [event["parameters"]["notes"] for event in events(project)]
    assert claims == [codes[:2], codes[2:4], codes[4:]]
    sound(project)


CHANGE = {
    "set": {"continue": {"max_rework_ratio": 0.4}, "runs": {"abandon_after_s": 60}}
}


def recommend(
    client: httpx.Client, change: Any = CHANGE, **more: Any
) -> dict[str, Any]:
    body = {"title": "Be more patient", "change": change, **more}
    answer = client.post("/loop/recommendations", json=body)
    assert answer.status_code == 201, answer.text
    told: dict[str, Any] = answer.json()
    return told


def test_a_recommendation_becomes_a_draft_and_no_policy_before_a_person_says_so(
    agent: httpx.Client,
    reviewer: httpx.Client,
    manager: httpx.Client,
    project: Project,
) -> None:
    make_policy("default", project=project, checks={"max_resets": 1})
    code = recommend(agent)["id"]
    told = outcome(agent, project, "agent/loop.retro.complete")
    assert told["action"] == "apply_retro_recommendation"
    assert told["event"]["parameters"]["recommendation"] == code
    (row,) = agent.get("/loop/recommendations").json()["items"]
    assert row["state"] == "drafted"
    assert row["draft"]["based_on"] == 2
    assert row["draft"]["document"]["continue"] == {"max_rework_ratio": 0.4}
    assert row["draft"]["document"]["checks"] == {"max_resets": 1}
    versions = PolicyVersion.objects.filter(project=project)
    assert versions.count() == 2
    path = f"/loop/recommendations/{code}/adopt"
    problem(reviewer.post(path), "forbidden")
    assert versions.count() == 2
    seen = {"based_on": row["draft"]["based_on"]}
    assert manager.post(path, json=seen).json()["state"] == "adopted"
    policy = get_policy_in_force(project_id=project.pk, name="default")
    assert policy.version == 2
    adopted = get_policy(versions.get(version=3).pk)
    assert adopted.policy.continue_limits.max_rework_ratio == 0.4
    assert adopted.policy.checks.max_resets == 1
    problem(manager.post(path), "invalid")
    assert versions.count() == 3
    sound(project)


def test_what_could_never_be_adopted_is_refused_at_the_door(
    agent: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    changes: tuple[dict[str, Any], ...] = (
        {"set": {"continue": {"max_rework_ratio": 4}}},
        {"set": {}},
        {"set": {"x": 1}, "policy": "nobody"},
        {"kind": "unheard-of"},
        {"kind": "repair", "set": {}},
        {},
    )
    for change in changes:
        body = {"title": "t", "change": change}
        problem(agent.post("/loop/recommendations", json=body), "invalid")
    # What was sound once need not be so when it is adopted.
    loop_policy(project)
    code = recommend(agent, {"kind": "repair", "parameters": {"about": "x"}})["id"]
    loop_policy(project, kinds=[], rules=[])
    refused = problem(manager.post(f"/loop/recommendations/{code}/adopt"), "invalid")
    assert "no longer" in refused["detail"]
    dismissed = manager.post(f"/loop/recommendations/{code}/dismiss")
    assert dismissed.json()["state"] == "dismissed"
    assert events(project) == []


def test_a_recommended_loop_starts_when_a_manager_adopts_it(
    agent: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    loop_policy(project)
    code = recommend(agent, {"kind": "cleanup", "parameters": {"days": 3}})["id"]
    manager.post(f"/loop/recommendations/{code}/adopt")
    (event,) = events(project)
    assert (event["action"], event["kind"]) == ("start_loop", "cleanup")
    assert event["parameters"] == {"days": 3}
    sound(project)


def test_a_paused_loop_is_not_started_by_adopting(
    agent: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    loop_policy(project)
    code = recommend(agent, {"kind": "cleanup", "parameters": {"days": 3}})["id"]
    manager.post("/loop/switch", json={"paused": True})
    refused = manager.post(f"/loop/recommendations/{code}/adopt")
    assert "Resume it first" in problem(refused, "run-paused")["detail"]
    assert events(project) == []
    manager.post("/loop/switch", json={"paused": False})
    manager.post(f"/loop/recommendations/{code}/adopt")
    assert len(events(project)) == 1


ALERT = {
    "name": "alert",
    "when": {"trigger": [FAILED]},
    "do": "emit_alert",
    "parameters": {
        "condition": "{data.condition}",
        "status": "{data.status}",
        "title": "{data.title}",
    },
    "reason": "so",
}


@pytest.fixture
def alert(agent: httpx.Client, project: Project) -> Any:
    loop_policy(project, rules=[ALERT], caps_per_hour={"emit_alert": 100})

    def say(
        condition: str = "disk", status: str = "firing", title: str = "Full"
    ) -> dict[str, Any]:
        return outcome(agent, project, condition=condition, status=status, title=title)

    return say


def test_an_incident_from_its_first_word_to_its_last(
    alert: Any, reviewer: httpx.Client, project: Project
) -> None:
    """IN-01 to IN-06, IN-09."""
    opened = alert()  # IN-01
    assert opened["event"]["parameters"]["change"] == "opened"
    told = [alert()["outcome"] for _ in range(3)]  # IN-02
    assert told == ["deduplicated"] * 3
    changed = alert(title="Fuller")  # IN-03
    assert changed["event"]["parameters"]["change"] == "changed"
    assert alert(title="Fullest")["outcome"] == "deduplicated"
    (row,) = reviewer.get("/loop/incidents?state=open").json()["items"]
    assert (row["title"], row["joins"]) == ("Fuller", 5)
    yesterday = timezone.now() - timedelta(days=1)
    Incident.objects.filter(project=project).update(changed_at=yesterday)
    assert alert(title="Fullest")["outcome"] == "emitted"
    assert alert("cpu")["outcome"] == "emitted"  # IN-06
    resolved = alert(status="resolved")  # IN-04, IN-09
    assert resolved["event"]["parameters"]["change"] == "resolved"
    assert alert(status="resolved")["outcome"] == "deduplicated"
    assert alert("never-red", status="resolved")["outcome"] == "deduplicated"
    again = alert()  # IN-05
    newest = reviewer.get("/loop/incidents").json()["items"][0]
    assert newest["decision_id"] == again["decision_id"]
    assert newest["previous"] == row["id"]
    sound(project)


def test_that_all_is_well_is_told_once_a_day(alert: Any, project: Project) -> None:
    """IN-07."""
    first = alert("all", status="all_good", title="All is well")
    assert first["event"]["parameters"]["change"] == "well"
    assert alert("all", status="all_good", title="Still")["outcome"] == "deduplicated"
    yesterday = timezone.now() - timedelta(days=1)
    ProjectLoop.objects.filter(project=project).update(well_told_at=yesterday)
    alert()
    assert alert("all", status="all_good")["outcome"] == "deduplicated"
    alert(status="resolved")
    assert alert("all", status="all_good")["outcome"] == "emitted"


def test_a_malformed_incident_is_rejected(alert: Any, project: Project) -> None:
    """IN-08."""
    for wrong in (
        {"status": "on fire"},
        {"condition": "x" * 121},
        {"title": "t" * 201},
    ):
        told = alert(**wrong)
        assert (told["outcome"], told["event"]) == ("invalid_decision", None)
    assert not Incident.objects.filter(project=project).exists()


def test_a_person_may_end_an_incident(
    alert: Any, reviewer: httpx.Client, agent: httpx.Client, project: Project
) -> None:
    alert()
    (row,) = reviewer.get("/loop/incidents").json()["items"]
    path = f"/loop/incidents/{row['id']}/resolve"
    for _ in range(2):
        told = reviewer.post(path, json={"note": "Cleaned up"})
        assert told.json()["state"] == "resolved"
    assert alert()["event"]["parameters"]["change"] == "opened"
    sound(project)


def test_the_default_rules_tell_of_an_agent_that_fails_and_of_its_recovery(
    agent: httpx.Client, project: Project
) -> None:
    told = [
        outcome(agent, project, type, agent="robo")["outcome"]
        for type in (FAILED, FAILED, "agent/loop.complete", "agent/loop.complete")
    ]
    assert told == ["emitted", "deduplicated", "emitted", "deduplicated"]
    assert outcome(agent, project, FAILED)["outcome"] == "noop"  # nobody is named


def test_what_came_of_an_event_stands_at_its_decision(
    agent: httpx.Client, project: Project
) -> None:
    loop_policy(project)
    told = outcome(agent, project, about="x")
    path = f"/loop/decisions/{told['decision_id']}/outcome"
    report = {"outcome": "succeeded", "summary": "Mended", "cost_usd": "0.02"}
    answer = agent.post(path, json=report).json()
    assert answer["report"] == {**report, "run": None}
    idle = send(agent, "system/note")
    run_cycle(project.pk)
    problem(agent.post(f"/loop/decisions/{idle}/outcome", json=report), "invalid")
    sound(project)


def test_the_loop_tells_how_it_stands(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    loop_policy(project, caps_per_hour={"start_loop": 5})
    outcome(agent, project, about="x")
    send(agent, about="y")
    told = reviewer.get("/loop").json()
    assert (told["paused"], told["decider"], told["heartbeat_at"]) == (
        *(False, "rules", None),
    )
    assert told["pending_signals"] == 1
    assert told["oldest_pending_age_s"] >= 0
    assert told["caps"][0] == {"action": "start_loop", "used": 1, "limit": 5}
    assert told["cost_today"] == {"used": "0.00", "limit": "1.00"}
    assert told["policy"]["version"] == 2
