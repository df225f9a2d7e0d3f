"""Many workers, many signals: one decision each, caps to the letter, and soon."""

from __future__ import annotations

import threading
import time
from collections import Counter
from datetime import timedelta
from functools import partial
from typing import Any

import httpx
import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import Project
from guidance.core.loop.facts import build_identity
from guidance.services import get_policy_in_force
from ledger.writer import Writer
from loop.control.clock import run_cycle
from loop.cycle.pipeline import decide_pending, decide_signals
from loop.cycle.sense import sense
from loop.models import Decision, Signal
from loop.runs import ensure_run
from tests.loop.conftest import Sending
from tests.loop.saying import (
    FAILED,
    events,
    get_decision,
    loop_policy,
    loop_runs,
    outcome,
    sound,
)
from tests.loop.thinking import thinking, wants
from tests.support.builders import start_run
from tests.support.examples import part
from tests.support.problems import problem
from tests.support.threads import at_once

TWICE = part(200, least=40)
BURST = part(1_000, least=250)


def test_two_workers_and_the_same_trigger_make_one_decision_each_time(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many times: DR-06, a second terminal decision is refused.

    Each worker writes by a writer of its own, as two processes do.
    """
    loop_policy(project, caps_per_hour={"start_loop": 10_000})
    signals = burst(project, TWICE)
    policy = get_policy_in_force(project_id=project.pk, name="default")
    snapshot = sense(project.pk)
    together = threading.Barrier(2)
    own = threading.local()
    monkeypatch.setattr("loop.runs.get_writer", lambda: own.writer)

    def work() -> int:
        own.writer = Writer()
        decided = 0
        for signal in signals:
            together.wait()
            decided += decide_signals([signal], policy, snapshot)
        own.writer.close()
        return decided

    assert sum(at_once(*[partial(closing, work)] * 2)) == TWICE
    rows = Decision.objects.filter(project=project).order_by("pk")
    assert [row.signal_id for row in rows] == [signal.pk for signal in signals]
    assert [row.code for row in rows] == [signal.decision_code for signal in signals]
    assert {row.outcome for row in rows} == {"emitted"}
    assert len(events(project)) == TWICE
    sound(project)


def burst(project: Project, count: int) -> list[Signal]:
    """Signals that all arrived in this moment."""
    ensure_run(project.pk)
    now = timezone.now()
    return Signal.objects.bulk_create(
        Signal(
            project=project,
            type=FAILED,
            source="signal",
            actor="system:test",
            data=f'{{"about":{number}}}',
            identity=build_identity(
                type=FAILED, data={"about": number}, dedupe_key=None
            ),
            received_at=now,
        )
        for number in range(count)
    )


def test_in_a_burst_caps_hold_exactly_and_nobody_waits_long(project: Project) -> None:
    loop_policy(project, caps_per_hour={"start_loop": 7})
    burst(project, BURST)
    began = time.monotonic()
    at_once(*[partial(closing, decide_pending, project.pk)] * 2)
    took = time.monotonic() - began
    rows = Decision.objects.filter(project=project)
    assert Counter(rows.values_list("outcome", flat=True)) == {
        "emitted": 7,
        "rate_limited": BURST - 7,
    }
    assert rows.values("signal").distinct().count() == BURST
    assert not Signal.objects.filter(project=project, pending=True).exists()
    assert len(events(project)) == 7
    # The first come are the first served.
    first = rows.order_by("signal_id").values_list("outcome", flat=True)[:7]
    assert set(first) == {"emitted"}
    newest = rows.order_by("-decided_at").select_related("signal").first()
    assert newest is not None
    assert (newest.decided_at - newest.signal.received_at).total_seconds() < 60
    assert took < 60
    sound(project)


def closing(work: Any, *arguments: Any) -> Any:
    try:
        return work(*arguments)
    finally:
        connection.close()


def test_an_event_leads_to_so_many_decisions_and_no_more(
    agent: httpx.Client, project: Project
) -> None:
    """The chain and the fan: everything that comes of one event counts together."""
    loop_policy(project, cascade_limit=3, caps_per_hour={"start_loop": 100}, dedupe_s=0)
    first = outcome(agent, project, about="start")
    told, cause = [], first["decision_id"]
    for number in range(3):
        one = outcome(agent, project, about=number, decision_id=cause)
        told.append(one["outcome"])
        cause = one["decision_id"]
    for number in range(3, 6):
        one = outcome(agent, project, about=number, decision_id=first["decision_id"])
        told.append(one["outcome"])
    assert told == ["emitted"] * 3 + ["rate_limited"] * 3
    assert one["guardrails"][0]["rail"] == "cascade"
    # What names no event, or none of this project, is nobody's consequence.
    assert outcome(agent, project, about="new")["outcome"] == "emitted"
    stranger = {"decision_id": "01900000-0000-7000-8000-000000000000"}
    assert outcome(agent, project, about="s", **stranger)["outcome"] == "emitted"
    sound(project)


def test_a_run_that_an_event_started_is_its_consequence(
    agent: httpx.Client, project: Project
) -> None:
    rule = {
        "name": "again",
        "when": {"trigger": [FAILED]},
        "do": "start_loop",
        "kind": "repair",
        "reason": "so",
    }
    loop_policy(project, rules=[rule], cascade_limit=1, dedupe_s=0)
    first = outcome(agent, project)["decision_id"]
    for _ in range(2):
        run = start_run(agent, labels={"decision_id": first})
        agent.post(f"/runs/{run}/finish", json={"outcome": "failed"})
        run_cycle(project.pk)
    own = Decision.objects.filter(project=project, trigger_source="own").order_by("pk")
    assert [row.outcome for row in own] == ["emitted", "rate_limited"]
    # Learn: what came of the event stands at its decision.
    report = get_decision(agent, first)["report"]
    assert report["outcome"] == "failed"
    assert Decision.objects.get(code=first).reported == "failed"


def test_a_paused_loop_looks_writes_down_and_does_nothing(
    agent: httpx.Client, reviewer: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    """The kill switch: anybody stops the loop, a manager lets it go on."""
    loop_policy(project)
    stop = {"paused": True, "reason": "It starts too much"}
    assert reviewer.post("/loop/switch", json=stop).json()["paused"] is True
    told = outcome(agent, project, about="x")
    assert (told["outcome"], told["action"], told["event"]) == (
        *("noop", "do_nothing", None),
    )
    assert told["guardrails"][0]["rail"] == "switch"
    assert "It starts too much" in told["reasoning_summary"]
    problem(reviewer.post("/loop/switch", json={"paused": False}), "forbidden")
    assert (
        manager.post("/loop/switch", json={"paused": False}).json()["paused"] is False
    )
    assert outcome(agent, project, about="x")["outcome"] == "emitted"
    (run,) = loop_runs(project)
    assert run.entries.filter(type="loop.switched").count() == 2
    sound(project)


def test_two_workers_ask_a_model_once_for_each_trigger(
    project: Project, robo_signal: Sending
) -> None:
    loop_policy(project, decider="llm")
    for _ in range(4):
        robo_signal()
    with thinking("openai", wants("openai")) as stand_in:
        at_once(*[partial(closing, decide_pending, project.pk)] * 2)
    assert len(stand_in.asked) == 4
    assert Decision.objects.filter(project=project, outcome="noop").count() == 4


def test_a_worker_that_died_leaves_its_trigger_to_the_next(
    project: Project, robo_signal: Sending
) -> None:
    """DR-08: queued just before the end, decided after it; never silence."""
    loop_policy(project, decider="llm")
    decision = robo_signal()
    signals = Signal.objects.filter(project=project)
    signals.update(leased_until=timezone.now() + timedelta(seconds=60))
    with thinking("openai", wants("openai")) as stand_in:
        assert decide_pending(project.pk) == (0, True)
        signals.update(leased_until=timezone.now())
        run_cycle(project.pk)
    assert len(stand_in.asked) == 1
    assert Decision.objects.get(code=decision).outcome == "noop"
