"""Seed 003's verification list, one test for each box; HB-01 to HB-07 among them."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import httpx
import pytest

from accounts.models import Project
from guidance.core.loop.vocabulary import ACTIONS
from loop.control.clock import run_cycle, send_heartbeat
from loop.models import Decision, ProjectLoop
from tests.loop.saying import (
    COMPLETE,
    events,
    get_decision,
    loop_policy,
    outcome,
    send,
    sound,
)
from tests.loop.thinking import thinking, wants

pytestmark = pytest.mark.once("judges signals, not SQL")

FIELDS = {
    *("note_queue_length", "recent_log_entries", "pending_recommendations"),
    *("active_runs", "half_done"),
}


def test_the_clock_and_a_signal_take_the_same_way_and_say_which_they_are(
    agent: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    """HB-01."""
    rule = {"name": "all", "when": {}, "do": "do_nothing", "reason": "{trigger}"}
    loop_policy(project, rules=[rule])
    assert send_heartbeat(project.pk)
    signal = send(agent, COMPLETE)
    woken = manager.post("/loop/heartbeat").json()["decision_id"]
    run_cycle(project.pk)
    rows = {
        row.trigger_source: row
        for row in Decision.objects.filter(project=project).order_by("pk")
    }
    assert {source: row.trigger_type for source, row in rows.items()} == {
        "clock": "heartbeat",
        "signal": COMPLETE,
        "manual": "wake",
    }
    told = [get_decision(manager, str(row.code)) for row in rows.values()]
    assert [one["reasoning_summary"] for one in told] == [
        *("heartbeat", COMPLETE, "wake"),
    ]
    assert {one["state_hash"] for one in told} == {told[0]["state_hash"]}
    assert {signal, woken} < {one["decision_id"] for one in told}
    sound(project)


def test_every_field_of_the_snapshot_is_there_with_its_time(
    agent: httpx.Client, project: Project
) -> None:
    """HB-02."""
    told = outcome(agent, project)
    assert set(told["snapshot"]) == FIELDS
    for field in told["snapshot"].values():
        assert field["stale"] is False
        age = datetime.fromisoformat(told["decided_at"]) - datetime.fromisoformat(
            field["at"]
        )
        assert 0 <= age.total_seconds() < 60
    assert told["state_hash"].startswith("sha256:")


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
def test_a_models_decision_is_checked_and_never_leaves_the_five_actions(
    robo_signal: Any, project: Project, wire: str
) -> None:
    """HB-03."""
    loop_policy(project, decider="llm")
    decision = robo_signal()
    with thinking(wire, wants(wire, "drop_tables")) as stand_in:
        run_cycle(project.pk)
    (asked,) = stand_in.asked
    assert all(action in json.dumps(asked.body) for action in ACTIONS)
    row = Decision.objects.get(code=decision)
    assert (row.outcome, row.action, row.event) == (
        *("invalid_decision", "do_nothing", "null"),
    )
    assert "another form" in row.reasoning


def test_each_action_emits_exactly_one_event_and_nothing_emits_none(
    agent: httpx.Client, project: Project
) -> None:
    """HB-04."""
    needs: dict[str, dict[str, Any]] = {
        "start_loop": {"kind": "repair", "parameters": {"about": "x"}},
        "emit_alert": {
            "parameters": {"condition": "c", "status": "firing", "title": "t"}
        },
    }
    loop_policy(
        project,
        rules=[
            {
                "name": action,
                "when": {"data": {"do": action}},
                "do": action,
                "reason": "so",
                **needs.get(action, {}),
            }
            for action in ACTIONS
        ],
    )
    agent.post("/loop/notes", json={"text": "n"})
    change = {"set": {"checks": {"max_resets": 1}}}
    agent.post("/loop/recommendations", json={"title": "r", "change": change})
    run_cycle(project.pk)
    for action in ACTIONS:
        before = len(events(project))
        told = outcome(agent, project, do=action)
        new = events(project)[before:]
        if action == "do_nothing":
            assert (told["outcome"], told["event"], new) == ("noop", None, [])
            continue
        assert (told["action"], told["outcome"]) == (action, "emitted")
        (event,) = new
        assert event == told["event"]
        assert event["type"] == "loop.event"
        for name in ("decision_id", "reasoning_summary", "state_hash"):
            assert event[name] == told[name]
        assert event["trigger_source"] == "signal"
    sound(project)


def test_over_the_hourly_cap_nothing_is_emitted_and_the_rail_is_logged(
    agent: httpx.Client, project: Project
) -> None:
    """HB-05."""
    loop_policy(project, caps_per_hour={"start_loop": 2})
    told = [outcome(agent, project, about=n) for n in range(3)]
    assert [one["outcome"] for one in told] == ["emitted", "emitted", "rate_limited"]
    (rail,) = told[2]["guardrails"]
    assert (rail["rail"], rail["value"], rail["limit"]) == ("cap", 2, 2)
    assert told[2]["event"] is None
    assert len(events(project)) == 2
    sound(project)


def test_with_no_budget_left_nothing_is_emitted_and_that_is_logged(
    robo_signal: Any, project: Project
) -> None:
    """HB-06: the second is not even asked about."""
    loop_policy(project, decider="llm", cost_per_day_usd="0.00032")
    ids = robo_signal(), robo_signal()
    with thinking("openai", wants("openai")) as stand_in:
        run_cycle(project.pk)
    assert len(stand_in.asked) == 1
    rows = [Decision.objects.get(code=code) for code in ids]
    assert [row.outcome for row in rows] == ["noop", "budget_denied"]
    assert [row.cost_micros for row in rows] == [320, 0]
    assert json.loads(rows[1].guardrails)[0]["rail"] == "budget"
    sound(project)


def test_a_destructive_action_waits_for_a_person_and_emits_nothing(
    agent: httpx.Client, project: Project
) -> None:
    """HB-07."""
    loop_policy(project)
    told = outcome(agent, project, COMPLETE)
    assert told["outcome"] == "approval_required"
    assert told["approval_required"] is True
    assert told["event"] is None
    assert told["review"]["kind"] == "loop_action"
    for _ in range(3):
        run_cycle(project.pk)
    assert events(project) == []
    sound(project)


def test_every_decision_is_written_down_with_its_reason_and_found_by_its_id(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    loop_policy(project, caps_per_hour={"start_loop": 1})
    ids = [
        send(agent, about="a"),
        send(agent, about="b"),
        send(agent, "system/note"),
        send(agent, COMPLETE),
    ]
    run_cycle(project.pk)
    told = [get_decision(reviewer, one) for one in ids]
    assert [one["outcome"] for one in told] == [
        *("emitted", "rate_limited", "noop", "rate_limited"),
    ]
    run = ProjectLoop.objects.get(project=project).run
    assert run is not None
    for one in told:
        assert one["reasoning_summary"].strip()
        entry = run.entries.get(seq=one["seq"])
        payload = json.loads(entry.payload)
        assert payload["decision"] == one["decision_id"]
        assert payload["reasoning"] == one["reasoning_summary"]
    listed = reviewer.get("/loop/decisions").json()["items"]
    assert [one["decision_id"] for one in listed] == ids[::-1]
    sound(project)
