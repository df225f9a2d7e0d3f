"""What wakes the loop: signals, its own ears, the clock; none lost and none twice."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import httpx
import pytest
from django.utils import timezone

from accounts.models import Membership, Project
from common.errors import Unavailable
from config.celery import app
from guidance.core.loop.facts import Snapshot
from ledger.chain import format_timestamp
from loop.control import clock
from loop.control.clock import attend_project, run_cycle, send_heartbeat
from loop.cycle import pipeline
from loop.cycle.sense import sense
from loop.inbox.ledger_events import read_ledger_events
from loop.models import Decision, ProjectLoop, Signal
from loop.runs import ensure_run
from tests.conftest import client_for
from tests.loop.cycle.test_many_workers import closing
from tests.loop.saying import (
    FAILED,
    events,
    get_decision,
    loop_policy,
    loop_runs,
    outcome,
    send,
    sound,
)
from tests.loop.thinking import thinking, wants
from tests.support.builders import (
    Person,
    Robot,
    make_project,
    make_robot,
    pause_at_once,
    start_run,
    step,
)
from tests.support.live import Live
from tests.support.people import rule
from tests.support.problems import any_problem, problem
from tests.support.threads import at_once

NOTHING = {"name": "n", "when": {}, "do": "do_nothing", "reason": "{trigger}"}


def test_the_same_key_is_the_same_signal(
    agent: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    body = {"type": FAILED, "data": {"a": 1}, "dedupe_key": "run-7"}
    first = agent.post("/loop/signals", json=body)
    again = manager.post("/loop/signals", json={**body, "data": {"a": 2}})
    run_cycle(project.pk)
    late = agent.post("/loop/signals", json=body)
    assert first.json() == again.json() == late.json()
    assert Signal.objects.filter(project=project).count() == 1
    assert set(first.json()) == {"signal", "decision_id"}


def test_an_idempotency_key_answers_the_same_again(agent: httpx.Client) -> None:
    headers = {"Idempotency-Key": "k1"}
    body = {"type": FAILED}
    first = agent.post("/loop/signals", json=body, headers=headers)
    again = agent.post("/loop/signals", json=body, headers=headers)
    assert (first.status_code, first.content) == (again.status_code, again.content)
    assert again.headers["idempotency-replayed"] == "true"
    other = {"type": FAILED, "data": {"x": 1}}
    problem(
        agent.post("/loop/signals", json=other, headers=headers),
        "idempotency-key-reuse",
    )


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"type": "heartbeat"},
        {"type": "agent/loop.complete", "source": "clock"},
        {"type": FAILED, "data": []},
        {"type": FAILED, "data": {"x": "y" * 17_000}},
        {"type": FAILED, "dedupe_key": ""},
        {"type": FAILED, "dedupe_key": "k" * 256},
        {"type": FAILED, "project": 1},
    ],
)
def test_bad_signals_are_refused(agent: httpx.Client, body: dict[str, Any]) -> None:
    answer = agent.post("/loop/signals", json=body)
    assert any_problem(answer)["type"] == "/problems/invalid"


def test_secrets_in_a_signal_are_not_kept(
    agent: httpx.Client, project: Project
) -> None:
    told = outcome(agent, project, password="hunter2-hunter2", about="x")
    assert "hunter2" not in str(told)
    assert "hunter2" not in Signal.objects.get(project=project).data


def test_a_decision_that_is_not_made_yet_is_absent_and_says_so(
    agent: httpx.Client, live: Live
) -> None:
    decision = send(agent)
    told = problem(agent.get(f"/loop/decisions/{decision}"), "not-found")
    assert "ask again" in told["detail"]


def test_the_same_trigger_on_the_same_state_is_decided_once(
    agent: httpx.Client, project: Project
) -> None:
    loop_policy(project, dedupe_s=3600)
    first = outcome(agent, project, about="x")
    again = outcome(agent, project, about="x")
    assert (first["outcome"], again["outcome"]) == ("emitted", "deduplicated")
    assert again["guardrails"][0]["value"] == first["decision_id"]
    assert outcome(agent, project, about="y")["outcome"] == "emitted"
    # Another state is another matter.
    start_run(agent)
    assert outcome(agent, project, about="x")["outcome"] == "emitted"
    # And so is another time.
    earlier = timezone.now() - timedelta(seconds=3_601)
    Decision.objects.filter(project=project).update(decided_at=earlier)
    assert outcome(agent, project, about="y")["outcome"] == "emitted"
    sound(project)


def test_ends_of_runs_and_rulings_are_heard_once(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    loop_policy(project, rules=[NOTHING])
    completed, failed, stopped, aborted = (start_run(agent) for _ in range(4))
    review = pause_at_once(agent, completed)
    rule(reviewer, review, "approve")
    agent.post(f"/runs/{completed}/finish", json={"outcome": "completed"})
    agent.post(f"/runs/{failed}/finish", json={"outcome": "failed", "summary": "No"})
    agent.post(f"/runs/{stopped}/steps", json=step(1, coherence=0.1))
    reviewer.post(f"/runs/{aborted}/abort", json={"reason": "Enough"})
    run_cycle(project.pk)
    rows = Decision.objects.filter(project=project).select_related("signal")
    told = [get_decision(reviewer, str(row.code)) for row in rows.order_by("pk")]
    assert {one["trigger_source"] for one in told} == {"own"}
    assert [
        (one["trigger"]["type"], one["trigger"]["data"].get("status")) for one in told
    ] == [
        ("system/note", None),
        ("agent/loop.complete", "completed"),
        ("agent/loop.failed", "failed"),
        ("agent/loop.failed", "stopped"),
        ("agent/loop.failed", "aborted"),
    ]
    assert told[0]["trigger"]["data"]["kind"] == "review.ruled"
    assert told[2]["trigger"]["data"]["said"] == "No"
    assert told[2]["trigger"]["data"]["agent"] == "robo"
    newest = told[-1]["snapshot"]["recent_log_entries"]["value"]
    assert [entry["type"] for entry in newest][:2] == ["run.aborted", "run.stopped"]
    assert (read_ledger_events(project.pk), run_cycle(project.pk)) == (0, (0, True))
    sound(project)


def test_the_loop_hears_neither_itself_nor_what_the_policy_leaves_out(
    agent: httpx.Client,
    reviewer: httpx.Client,
    manager: httpx.Client,
    project: Project,
) -> None:
    loop_policy(project, signals_from={"run_ends": False})
    held = outcome(agent, project, "agent/loop.complete")
    rule(reviewer, held["review"]["id"], "deny")
    agent.post(f"/runs/{start_run(agent)}/finish", json={"outcome": "failed"})
    (run,) = loop_runs(project)
    manager.post(f"/runs/{run.code}/abort", json={"reason": "x"})
    assert read_ledger_events(project.pk) == 0
    # What was passed over is not made up for later.
    loop_policy(project)
    ProjectLoop.objects.filter(project=project).update(heard=10**6)
    assert read_ledger_events(project.pk) == 0


def test_decisions_are_filtered_and_paged(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    loop_policy(project, caps_per_hour={"start_loop": 2})
    ids = [send(agent, about=n) for n in range(4)]
    run_cycle(project.pk)

    def listed(query: str) -> tuple[list[str], str | None]:
        page = reviewer.get(f"/loop/decisions?{query}").json()
        return [item["decision_id"] for item in page["items"]], page["next_cursor"]

    first, cursor = listed("limit=3")
    assert (first, cursor) == (ids[:0:-1], ids[1])
    assert listed(f"limit=3&cursor={cursor}") == (ids[:1], None)
    assert listed("outcome=emitted")[0] == ids[1::-1]
    assert listed("outcome=rate_limited&action=start_loop")[0] == ids[:1:-1]
    assert listed("trigger_source=clock")[0] == []
    assert listed("project=nowhere")[0] == []
    for wrong in ("outcome=done", "typo=1", "limit=0", "cursor=x"):
        any_problem(reviewer.get(f"/loop/decisions?{wrong}"))


def test_whoever_is_in_several_projects_says_which(
    live: Live, alice: Person, project: Project
) -> None:
    other = make_project()
    Membership.objects.create(project=other, user=alice.user, role="reviewer")
    with client_for(live, alice) as client:
        body: dict[str, Any] = {"type": FAILED}
        refused = problem(client.post("/loop/signals", json=body), "invalid")
        assert project.slug in refused["errors"][0]["message"]
        sent = client.post("/loop/signals", json={**body, "project": other.slug})
        assert sent.status_code == 202
        assert Signal.objects.get(code=sent.json()["signal"]).project == other
        stranger = make_project().slug
        for slug in (stranger, "nowhere"):
            lost = client.post("/loop/signals", json={**body, "project": slug})
            problem(lost, "not-found")
        wake = {"project": other.slug}  # a reviewer there, though a manager here
        problem(client.post("/loop/heartbeat", json=wake), "forbidden")


def test_two_clocks_that_tick_at_once_beat_once(project: Project) -> None:
    loop_policy(project)
    ensure_run(project.pk)
    assert sorted(at_once(*[partial(closing, send_heartbeat, project.pk)] * 2)) == [
        False,
        True,
    ]
    assert Signal.objects.filter(project=project).count() == 1


def test_what_has_grown_old_is_marked_and_is_no_reason_to_act(
    agent: httpx.Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = {
        "name": "busy",
        "when": {"snapshot": {"active_runs": {"at_least": 1}}},
        "do": "start_loop",
        "kind": "repair",
        "reason": "so",
    }
    loop_policy(project, rules=[rule], stale_after_s=60)
    start_run(agent)

    def long_ago(project_id: int) -> Snapshot:
        now = sense(project_id)
        before = format_timestamp(timezone.now() - timedelta(seconds=61))
        return replace(now, active_runs=replace(now.active_runs, at=before))

    assert outcome(agent, project)["outcome"] == "emitted"
    monkeypatch.setattr(pipeline, "sense", long_ago)
    told = outcome(agent, project, n=1)
    assert told["outcome"] == "noop"
    assert told["snapshot"]["active_runs"]["stale"] is True
    assert told["snapshot"]["half_done"]["stale"] is False
    loop_policy(project, decider="llm", stale_after_s=60)
    wanted = wants("openai", "start_loop", kind="repair")
    with thinking("openai", wanted):
        told = outcome(agent, project, n=2)
    assert told["outcome"] == "invalid_decision"
    assert told["guardrails"][0]["rail"] == "stale"
    sound(project)


def test_the_clock_keeps_its_rhythm_and_its_distance(
    manager: httpx.Client, project: Project
) -> None:
    loop_policy(project, heartbeat_s=900, min_gap_s=600)
    loops = ProjectLoop.objects.filter(project=project)
    assert send_heartbeat(project.pk)
    assert not send_heartbeat(project.pk)

    def ago(*, heartbeat: int, looked: int) -> bool:
        now = timezone.now()
        loops.update(
            heartbeat_at=now - timedelta(seconds=heartbeat),
            looked_at=now - timedelta(seconds=looked),
        )
        return send_heartbeat(project.pk)

    assert not ago(heartbeat=890, looked=890)
    assert not ago(heartbeat=2_000, looked=590)
    assert ago(heartbeat=910, looked=610)
    loops.update(heartbeat_at=timezone.now() - timedelta(hours=1), looked_at=None)
    assert manager.post("/loop/heartbeat").status_code == 202
    assert not send_heartbeat(project.pk)  # a person has just looked
    assert manager.get("/loop").json()["heartbeat_age_s"] >= 3_600


def test_a_wiped_broker_loses_nothing(
    agent: httpx.Client,
    project: Project,
    live: Live,
    robo: Robot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every hint is lost while signals arrive: the next tick decides them all."""

    def lost(*args: Any, **kwargs: Any) -> None:
        raise OSError("the broker is gone")

    monkeypatch.setattr(app, "send_task", lost)
    loop_policy(project, caps_per_hour={"start_loop": 100})
    with client_for(live, robo) as other:
        ids = [send(client, about=n) for n in range(10) for client in (agent, other)]
    agent.post(f"/runs/{start_run(agent)}/finish", json={"outcome": "failed"})
    assert not Decision.objects.filter(project=project).exists()
    attend_project(project.pk)
    assert not Signal.objects.filter(project=project, pending=True).exists()
    outcomes = [get_decision(agent, one)["outcome"] for one in ids]
    assert outcomes == ["emitted", "deduplicated"] * 10
    assert len(events(project)) == 10
    assert Decision.objects.filter(project=project, trigger_source="own").count() == 1
    assert Decision.objects.filter(project=project, trigger_source="clock").count() == 1
    sound(project)


@pytest.mark.parametrize(
    "trouble", [Unavailable("The project is busy."), KeyError("outcome")]
)
def test_one_projects_trouble_is_not_anothers(
    agent: httpx.Client,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    trouble: Exception,
) -> None:
    """Be it busy, or an entry of it such as nobody writes."""
    other = make_project()
    decision = send(agent)
    assert clock.has_ledger(project.pk)
    assert project.pk in clock.list_project_ids()

    def refuse(project_id: int) -> bool:
        if project_id == other.pk:
            raise trouble
        return False

    monkeypatch.setattr(clock, "send_heartbeat", refuse)
    monkeypatch.setattr(clock, "list_project_ids", lambda: [other.pk, project.pk])
    assert clock.tick() == 1
    assert get_decision(agent, decision)["outcome"] == "noop"


def test_a_decision_of_another_project_is_nobodys_cause(
    live: Live, agent: httpx.Client, project: Project
) -> None:
    """It would let a stranger's decision count for our cascade, and tell of it."""
    elsewhere = make_project()
    with client_for(live, make_robot(project=elsewhere)) as stranger:
        loop_policy(elsewhere)
        foreign = outcome(stranger, elsewhere, about="theirs")["decision_id"]
    loop_policy(project)
    own = outcome(agent, project, about="ours")["decision_id"]

    send(agent, about="x", decision_id=foreign)
    send(agent, about="y", decision_id=own)

    causes = {
        json.loads(signal.data)["about"]: signal.cause and str(signal.cause.code)
        for signal in Signal.objects.filter(project=project)
    }
    assert causes == {"ours": None, "x": None, "y": own}
