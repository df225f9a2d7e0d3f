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

from accounts.models import Project, Role, User
from config.celery import app
from config.models import Heartbeat
from ledger.idempotency import KEEP
from ledger.models import (
    Entry,
    IdempotencyRecord,
    LedgerExport,
    ProjectVerification,
    Run,
)
from ledger.statistics import together
from ledger.verification.project import start_verification
from loop.control import clock
from loop.learning import learn
from loop.models import ProjectLoop, Signal
from loop.runs import ensure_run
from notifications.models import Notice
from notifications.services import KEEP as KEEP_NOTICES
from reviews.models import Backtest, Review
from tests.loop.saying import loop_policy
from tests.reviews.halts.halting import halt, release
from tests.reviews.policies.trials import start as start_backtest
from tests.reviews.rulings.test_expiry import overdue
from tests.reviews.test_abandonment import silent
from tests.support.builders import (
    make_person,
    make_policy,
    pause_at_once,
    start_run,
    step,
)
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


def release_reviews(
    project: Project, agent: httpx.Client, manager: httpx.Client
) -> None:
    review = pause_at_once(agent, start_run(agent))
    manager.post(f"/reviews/{review}/claim")
    past = timezone.now() - timedelta(seconds=1)
    Review.objects.filter(code=review).update(claimed_until=past)
    assert perform("release-reviews") >= 1
    assert manager.get(f"/reviews/{review}").json()["assignee"] is None


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


def keep_figures_and_words(
    project: Project, agent: httpx.Client, manager: httpx.Client
) -> None:
    run = start_run(agent)
    agent.post(f"/runs/{run}/steps", json=step(1, summary="Quinces were peeled"))
    # This project alone: other tests have left theirs.
    with patch.object(together, "_list_projects_behind", lambda: [project.pk]):
        assert perform("figures-and-words") == 2
    (found,) = manager.get("/runs?q=quinces").json()["items"]
    assert found["id"] == run
    assert manager.get("/stats/gates").json()["evaluations"] == 1


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


def delete_old_exports(
    project: Project, agent: httpx.Client, manager: httpx.Client
) -> None:
    run = start_run(agent)
    manager.get(f"/runs/{run}/ledger")
    rows = LedgerExport.objects.filter(project=project)
    rows.update(at=timezone.now() - timedelta(days=31))
    perform("delete-old-exports")
    assert rows.count() == 1  # nobody has set an end
    Project.objects.filter(pk=project.pk).update(retention_days=30)
    assert perform("delete-old-exports") >= 1
    assert not rows.exists()


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


def start_verifications(
    project: Project, agent: httpx.Client, manager: httpx.Client
) -> None:
    start_run(agent)
    # Projects of other tests have had theirs.
    others = Project.objects.exclude(pk=project.pk)
    ProjectVerification.objects.bulk_create(
        ProjectVerification(project=each, state="finished") for each in others
    )
    assert perform("start-verifications") == 1
    assert ProjectVerification.objects.get(project=project).state == "waiting"


def verify_ledgers(
    project: Project, agent: httpx.Client, manager: httpx.Client
) -> None:
    start_run(agent)
    job = start_verification(project)
    assert perform("verify-ledgers") >= 1
    job.refresh_from_db()
    assert job.state == "finished"


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


def send_mails(project: Project, agent: httpx.Client, manager: httpx.Client) -> None:
    bob = make_person("bob", role=Role.REVIEWER, project=project)
    User.objects.filter(pk=bob.user.pk).update(email="bob@example.invalid")
    review = pause_at_once(agent, start_run(agent))
    Review.objects.filter(code=review).update(severity="critical")
    assert perform("send-mails") >= 1
    assert Notice.objects.get(review__code=review).user == bob.user


def delete_old_notices(
    project: Project, agent: httpx.Client, manager: httpx.Client
) -> None:
    bob = make_person("bob", role=Role.REVIEWER, project=project)
    review = Review.objects.get(code=pause_at_once(agent, start_run(agent)))
    Notice.objects.create(user=bob.user, review=review, occasion="opened")
    perform("delete-old-notices")
    assert Notice.objects.filter(review=review).exists()
    over = timezone.now() - KEEP_NOTICES - timedelta(hours=1)
    Review.objects.filter(pk=review.pk).update(state="withdrawn", closed_at=over)
    assert perform("delete-old-notices") >= 1
    assert not Notice.objects.filter(review=review).exists()


def move_deadlines(
    project: Project, agent: httpx.Client, manager: httpx.Client
) -> None:
    run = start_run(agent)
    release(manager, halt(manager))
    perform("move-deadlines")
    moved = Entry.objects.filter(run__code=run, type="run.deadlines_moved")
    assert moved.count() == 1


Look = Callable[[Project, httpx.Client, httpx.Client], None]
TASKS: dict[str, Look] = {
    "heartbeat": heartbeat,
    "expire-reviews": expire_reviews,
    "release-reviews": release_reviews,
    "move-deadlines": move_deadlines,
    "abandon-runs": abandon_runs,
    "stop-overdue-runs": stop_overdue_runs,
    "move-runs": move_runs,
    "run-backtests": run_backtests,
    "search-suggestions": search_suggestions,
    "start-verifications": start_verifications,
    "verify-ledgers": verify_ledgers,
    "deliver-webhooks": deliver_webhooks,
    "delete-old-deliveries": delete_old_deliveries,
    "send-mails": send_mails,
    "delete-old-notices": delete_old_notices,
    "figures-and-words": keep_figures_and_words,
    "delete-old-exports": delete_old_exports,
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
