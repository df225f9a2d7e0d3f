"""Background work: what the clock names is there, and webhooks have a queue of their own."""

from __future__ import annotations

from config.celery import app


def test_every_task_of_the_schedule_is_registered() -> None:
    app.loader.import_default_modules()
    named = {entry["task"] for entry in app.conf.beat_schedule.values()}
    ours = {name for name in app.tasks if not name.startswith("celery.")}
    # One is sent by the ledger's entries, not by the clock.
    assert named | {"loop.decide"} == ours


def test_every_queue_of_the_schedule_is_one_that_workers_take_from() -> None:
    named = {
        entry["options"].get("queue", app.conf.task_default_queue)
        for entry in app.conf.beat_schedule.values()
    }
    assert named == {queue.name for queue in app.conf.task_queues}
