"""Everything that beat has a worker do, done as the task that it is."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import httpx
import pytest
from django.utils import timezone

from accounts.models import Project
from config.celery import app
from config.models import Heartbeat
from ledger.idempotency import KEEP
from ledger.models import IdempotencyRecord, Run
from loop.control import clock
from loop.learning import learn
from loop.models import ProjectLoop, Signal
from loop.runs import ensure_run
from reviews.models import Backtest
from tests.loop.saying import loop_policy
from tests.reviews.policies.trials import start as start_backtest
from tests.reviews.rulings.test_expiry import overdue
from tests.reviews.test_abandonment import silent
from tests.support.builders import make_policy, pause_at_once, start_run, step
from tests.support.people import rule
from tests.webhooks.hooks import add, tell
from tests.webhooks.receivers import receiving
from webhooks.models import Delivery, WebhookEndpoint
from webhooks.services import KEEP_FOR


def perform(name: str) -> Any:
    """What a worker makes of the message that beat sends; a failure is raised here."""
    app.loader.import_default_modules()
    task = app.tasks[app.conf.beat_schedule[name]["task"]]
    # A worker that another test has run in this process forbids to wait for results.
    return task.apply().get(disable_sync_subtasks=False)


def heartbeat(project: Project, agent: httpx.Client, manager: httpx.Client) -> None:
    Heartbeat.objects.filter(name=Heartbeat.WORKER).delete()
    perform("heartbeat")
    worker = Heartbeat.objects.get(name=Heartbeat.WORKER)
    assert timezone.now() - worker.at < timedelta(minutes=1)


def expire_reviews(
    project: Project, agent: httpx.Client, manager: httpx.Client
) -> None:
    run = start_run(agent)
    overdue(pause_at_once(agent, run))
    assert perform("expire-reviews") >= 1
    assert Run.objects.get(code=run).status == "aborted"


def abandon_runs(project: Project, agent: httpx.Client, manager: httpx.Client) -> None:
    make_policy("hour", project=project, runs={"abandon_after_s": 3600})
    run = start_run(agent, policy="hour")
    silent(run, minutes=61)
    assert perform("abandon-runs") >= 1
    assert Run.objects.get(code=run).status == "abandoned"


def stop_overdue_runs(
    project: Project, agent: httpx.Client, manager: httpx.Client
) -> None:
    run = start_run(agent, budget={"time_ms": 1})
    time.sleep(0.01)
    assert perform("stop-overdue-runs") >= 1
    assert Run.objects.get(code=run).status == "stopped"


def deliver_webhooks(
    project: Project, agent: httpx.Client, manager: httpx.Client
) -> None:
    with receiving() as receiver:
        hook = add(manager, receiver.url("/in"))
        tell(project, 2)
        assert perform("deliver-webhooks") == 2
    assert hook.states == ["delivered"] * 2


def delete_old_deliveries(
    project: Project, agent: httpx.Client, manager: httpx.Client
) -> None:
    hook = add(manager, "https://receiver.invalid/hook")
    tell(project, 2)
    old, _ = hook.deliveries
    ended = {
        "state": "delivered",
        "ended_at": timezone.now() - KEEP_FOR - timedelta(hours=1),
    }
    Delivery.objects.filter(pk=old.pk).update(**ended)
    assert perform("delete-old-deliveries") == 1
    assert [each.number for each in hook.deliveries] == [2]


def delete_idempotency_keys(
    project: Project, agent: httpx.Client, manager: httpx.Client
) -> None:
    for key in ("old", "new"):
        headers = {"Idempotency-Key": key}
        agent.post("/runs", json={"task": "t"}, headers=headers)
    rows = IdempotencyRecord.objects.filter(agent__project=project).order_by("pk")
    old, new = rows
    long_ago = timezone.now() - KEEP - timedelta(hours=1)
    rows.filter(pk=old.pk).update(created_at=long_ago)
    assert perform("delete-idempotency-keys") >= 1
    assert list(rows.all()) == [new]


def loop(project: Project, agent: httpx.Client, manager: httpx.Client) -> None:
    loop_policy(project)
    ensure_run(project.pk)
    perform("loop")
    assert Signal.objects.filter(project=project, type="heartbeat").count() == 1


def loop_learn(project: Project, agent: httpx.Client, manager: httpx.Client) -> None:
    loop_policy(project)
    ensure_run(project.pk)
    perform("loop-learn")
    learned = ProjectLoop.objects.get(pk=project.pk).learned_at
    assert learned is not None
    assert timezone.now() - learned < timedelta(minutes=1)


def run_backtests(project: Project, agent: httpx.Client, manager: httpx.Client) -> None:
    agent.post(f"/runs/{start_run(agent)}/steps", json=step(1))
    code = start_backtest(manager, document={})
    assert perform("run-backtests") >= 1
    assert Backtest.objects.get(code=code).state == "finished"


def search_suggestions(
    project: Project, agent: httpx.Client, manager: httpx.Client
) -> None:
    agent.post(f"/runs/{start_run(agent)}/steps", json=step(1))
    # The newest policy alone: other tests have left theirs.
    with patch("reviews.policies.suggestions.services.SEARCHES_LIMIT", 1):
        assert perform("search-suggestions") == 1
    assert manager.get("/policies/default/suggestions").json()["state"] == "waiting"


def move_runs(project: Project, agent: httpx.Client, manager: httpx.Client) -> None:
    """Those that waited for a person when the version came into force."""
    run = start_run(agent)
    review = pause_at_once(agent, run)
    body = {"document": {}, "activate": True, "apply_to_running": True}
    assert manager.post("/policies/default/versions", json=body).status_code == 201
    assert manager.get(f"/runs/{run}").json()["policy"]["version"] == 1
    rule(manager, review, "approve")
    assert perform("move-runs") >= 1
    assert manager.get(f"/runs/{run}").json()["policy"]["version"] == 2


Look = Callable[[Project, httpx.Client, httpx.Client], None]
TASKS: dict[str, Look] = {
    "heartbeat": heartbeat,
    "expire-reviews": expire_reviews,
    "abandon-runs": abandon_runs,
    "stop-overdue-runs": stop_overdue_runs,
    "move-runs": move_runs,
    "run-backtests": run_backtests,
    "search-suggestions": search_suggestions,
    "deliver-webhooks": deliver_webhooks,
    "delete-old-deliveries": delete_old_deliveries,
    "delete-idempotency-keys": delete_idempotency_keys,
    "loop": loop,
    "loop-learn": loop_learn,
}


def test_every_scheduled_task_is_tried_here() -> None:
    assert TASKS.keys() == app.conf.beat_schedule.keys()


@pytest.mark.parametrize("name", TASKS)
def test_a_task_does_its_work(
    name: str,
    project: Project,
    agent: httpx.Client,
    manager: httpx.Client,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings.WEBHOOK_ALLOW = ("127.0.0.0/8",)
    # Tasks serve every project; those of other tests are left out.
    WebhookEndpoint.objects.all().delete()
    monkeypatch.setattr(clock, "list_project_ids", lambda: [project.pk])
    learned = learn.learn_if_due

    def learn_here(project_id: int) -> int:
        return learned(project_id) if project_id == project.pk else 0

    monkeypatch.setattr(learn, "learn_if_due", learn_here)
    TASKS[name](project, agent, manager)
