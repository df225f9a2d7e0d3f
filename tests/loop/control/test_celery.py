"""A real worker and a real beat, on whichever broker the profile has."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from celery.beat import EmbeddedService
from celery.worker import WorkController
from django.dispatch import receiver

from accounts.models import Project
from config.celery import app
from loop.control import clock
from loop.control.subscribers import loop_event
from loop.models import Decision
from tests.loop.cycle.test_many_workers import burst
from tests.loop.saying import loop_policy, send, sound
from tests.support.waiting import until


@contextmanager
def worker() -> Iterator[None]:
    """As the one-process profile starts it; what others left in the queue is dropped."""
    app.control.purge()
    controller = WorkController(
        app=app,
        pool_cls="threads",
        concurrency=2,
        without_heartbeat=True,
        without_mingle=True,
        without_gossip=True,
        loglevel=logging.WARNING,
    )
    thread = threading.Thread(target=controller.start, name="worker", daemon=True)
    thread.start()
    try:
        yield
    finally:
        controller.stop()
        thread.join(timeout=10)


def test_a_worker_decides_as_soon_as_a_signal_comes(
    agent: httpx.Client, project: Project
) -> None:
    loop_policy(project)
    told: list[dict[str, Any]] = []

    @receiver(loop_event)
    def remember(event: dict[str, Any], project_id: int, **_: Any) -> None:
        if project_id == project.pk:
            told.append(event)

    with worker():
        decision = send(agent, about="x")
        path = f"/loop/decisions/{decision}"
        until(lambda: agent.get(path).status_code == 200)
        until(lambda: len(told) == 1)
    answer = agent.get(path).json()
    assert answer["outcome"] == "emitted"
    assert told == [answer["event"]]
    sound(project)


def test_beat_makes_the_heart_beat_and_finds_what_was_missed(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop_policy(project)
    burst(project, 3)  # rows alone: nobody was told
    monkeypatch.setattr(clock, "list_project_ids", lambda: [project.pk])
    schedule = {**app.conf.beat_schedule["loop"], "schedule": 0.2}
    monkeypatch.setitem(app.conf, "beat_schedule", {"loop": schedule})
    beat: Any = EmbeddedService(
        app, max_interval=1, scheduler_cls="celery.beat:Scheduler", thread=True
    )
    rows = Decision.objects.filter(project=project)
    with worker():
        beat.start()
        until(lambda: rows.count() == 4)
        beat.stop()
        beat.join(timeout=10)
    assert rows.filter(trigger_source="signal", outcome="emitted").count() == 3
    (heartbeat,) = rows.filter(trigger_source="clock")
    assert (heartbeat.trigger_type, heartbeat.outcome) == ("heartbeat", "noop")
    sound(project)
