"""Who hears of an event: webhooks, streams and receivers in the process, once each."""

from __future__ import annotations

import json
from typing import Any

import httpx

from accounts.models import Project
from loop.control.subscribers import loop_event, notify_subscribers
from loop.models import ProjectLoop
from tests.config.fastpath.streams import listen
from tests.loop.saying import COMPLETE, events, loop_policy, outcome
from tests.support.people import rule
from tests.webhooks.hooks import add
from webhooks.delivery.fanout import fan_out
from webhooks.models import Delivery

HOOK = "https://receiver.invalid/hook"


def test_a_webhook_gets_each_event_once_and_word_for_word(
    agent: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    hook = add(manager, HOOK, ["loop.event", "run.paused", "review.opened"])
    loop_policy(project)
    outcome(agent, project, about="ü" * 4_000)
    outcome(agent, project, about="x" * 9_000)  # too long for any channel
    held = outcome(agent, project, COMPLETE)
    fan_out()
    rule(manager, held["review"]["id"], "approve")
    for _ in range(2):
        fan_out()
    told = [json.loads(row.body) for row in hook.deliveries]
    assert [one["type"] for one in told] == [
        "loop.event",
        "review.opened",
        "loop.event",
    ]
    run = {"run": held["run"]}
    assert [one["data"] for one in told if one["type"] == "loop.event"] == [
        {**run, **event} for event in events(project)
    ]
    assert Delivery.objects.filter(endpoint=hook.row).count() == 3


def test_a_stream_of_the_loops_run_carries_it_too(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    loop_policy(project)
    first = outcome(agent, project, about="x")
    run = reviewer.get("/loop").json()["run"]
    with listen(reviewer, run, last=first["seq"]) as listening:
        assert listening.entry()["payload"]["event"] == first["event"]
        second = outcome(agent, project, about="y")
        types = [entry["type"] for entry in listening.entries(3)]
    assert types == ["loop.signalled", "loop.decided", "loop.emitted"]
    assert second["run"] == run


def test_receivers_in_the_process_hear_once_and_hurt_nobody(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    loop_policy(project)
    heard: list[dict[str, Any]] = []

    def breaks(**_: Any) -> None:
        raise RuntimeError("no")

    def remembers(event: dict[str, Any], project_id: int, **_: Any) -> None:
        if project_id == project.pk:
            heard.append(event)

    for receiver in (breaks, remembers):
        loop_event.connect(receiver)
    try:
        outcome(agent, project, about="x")
        held = outcome(agent, project, COMPLETE)
        rule(reviewer, held["review"]["id"], "approve")
        assert notify_subscribers(project.pk) == 1
        assert notify_subscribers(project.pk) == 0
    finally:
        for receiver in (breaks, remembers):
            loop_event.disconnect(receiver)
    assert heard == events(project)
    assert ProjectLoop.objects.get(project=project).told > 0
