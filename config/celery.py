"""Background work: a clock that looks for what is due. The database is the queue."""

from __future__ import annotations

import os
from typing import Any

from celery import Celery
from celery.signals import beat_init, worker_init
from kombu import Exchange, Queue

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# A worker would run every check, the API's document included, and never look at what they
# find. What must not be is refused below and by config.checks.
os.environ.setdefault("CELERY_SKIP_CHECKS", "true")

from django.conf import settings

app = Celery("checkrail")
app.conf.update(
    broker_url=settings.CELERY_BROKER_URL,
    broker_connection_retry_on_startup=True,
    # For ever: the default ends a worker after three quarters of an hour without Redis.
    broker_connection_max_retries=None,
    # In one process the queue is polled: the default second would be felt.
    broker_transport_options={"polling_interval": 0.05} if settings.EMBEDDED else {},
    task_ignore_result=True,
    # A message is a hint: the next tick repeats it, so stale ones may be dropped.
    task_default_queue="checkrail",
    # Workers take from each queue in turn: webhooks do not stand behind other work.
    task_queues=[
        Queue(name, Exchange(name), routing_key=name)
        for name in ("checkrail", "webhooks")
    ],
    worker_hijack_root_logger=False,
    worker_enable_remote_control=False,
    timezone="UTC",
    imports=[
        *("config.health.tasks", "ledger.tasks", "loop.tasks", "reviews.tasks"),
        *("notifications.tasks", "webhooks.tasks"),
    ],
    beat_schedule={
        "heartbeat": {
            "task": "config.health.tasks.heartbeat",
            "schedule": 15.0,
            "options": {"expires": 15},
        },
        "expire-reviews": {
            "task": "reviews.tasks.expire_reviews",
            "schedule": 15.0,
            "options": {"expires": 15},
        },
        "release-reviews": {
            "task": "reviews.tasks.release_reviews",
            "schedule": 5.0,
            "options": {"expires": 15},
        },
        "move-deadlines": {
            "task": "reviews.tasks.move_deadlines",
            "schedule": 15.0,
            "options": {"expires": 15},
        },
        "abandon-runs": {
            "task": "reviews.tasks.abandon_runs",
            "schedule": 60.0,
            "options": {"expires": 60},
        },
        "stop-overdue-runs": {
            "task": "reviews.tasks.stop_overdue_runs",
            "schedule": 15.0,
            "options": {"expires": 15},
        },
        "move-runs": {
            "task": "reviews.tasks.move_runs",
            "schedule": 15.0,
            "options": {"expires": 15},
        },
        "run-backtests": {
            "task": "reviews.tasks.run_backtests",
            "schedule": 15.0,
            "options": {"expires": 15},
        },
        # Each policy once a day, as with the loop's learning.
        "search-suggestions": {
            "task": "reviews.tasks.search_suggestions",
            "schedule": 3600.0,
            "options": {"expires": 3600},
        },
        # Each project once a day.
        "start-verifications": {
            "task": "ledger.tasks.start_verifications",
            "schedule": 3600.0,
            "options": {"expires": 3600},
        },
        "verify-ledgers": {
            "task": "ledger.tasks.verify_ledgers",
            "schedule": 15.0,
            "options": {"expires": 15},
        },
        "deliver-webhooks": {
            "task": "webhooks.tasks.deliver_webhooks",
            "schedule": 2.0,
            "options": {"expires": 30, "queue": "webhooks"},
        },
        "delete-old-deliveries": {
            "task": "webhooks.tasks.delete_old_deliveries",
            "schedule": 3600.0,
            "options": {"expires": 3600},
        },
        # What came since the last time is one mail to each person.
        "send-mails": {
            "task": "notifications.tasks.send_mails",
            "schedule": 30.0,
            "options": {"expires": 30},
        },
        "delete-old-notices": {
            "task": "notifications.tasks.delete_old_notices",
            "schedule": 3600.0,
            "options": {"expires": 3600},
        },
        "loop": {
            "task": "loop.tick",
            "schedule": 60.0,
            "options": {"expires": 60},
        },
        # Every hour, though each project's turn comes once a day: a process that is
        # restarted often has no day in one piece.
        "loop-learn": {
            "task": "loop.learn",
            "schedule": 3600.0,
            "options": {"expires": 3600},
        },
        "figures-and-words": {
            "task": "ledger.tasks.keep_figures_and_words",
            "schedule": 5.0,
            "options": {"expires": 30},
        },
        "delete-old-exports": {
            "task": "ledger.tasks.delete_old_exports",
            "schedule": 3600.0,
            "options": {"expires": 3600},
        },
        "delete-idempotency-keys": {
            "task": "ledger.tasks.delete_idempotency_keys",
            "schedule": 3600.0,
            "options": {"expires": 3600},
        },
    },
)


@worker_init.connect
@beat_init.connect
def refuse_other_version(**_named: Any) -> None:
    """Like a web process: no work is done on a database that another version made."""
    # These need Django's apps, which Celery loads before it sends the signal.
    from django.db import connection

    from config.database.version import find_version_fault

    fault = find_version_fault()
    connection.close()  # or the processes of the pool would inherit it
    if fault is not None:
        raise SystemExit(fault)
