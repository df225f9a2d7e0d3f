"""What is decided under a project's lock is decided by the clock after the wait for it."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import httpx
from django.db import connection, transaction

from ledger.models import Run
from ledger.writer.locking import lock_project, lock_run
from tests.support.builders import start_run


def read_clock() -> datetime:
    if connection.vendor != "postgresql":
        return datetime.now(UTC)
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now: datetime = cursor.fetchone()[0]
        return now


def test_the_time_is_read_once_the_lock_is_held_not_when_the_transaction_began(
    agent: httpx.Client,
) -> None:
    run = Run.objects.get(code=start_run(agent))
    with transaction.atomic():
        began = read_clock()
        project = lock_project(run.project_id)
        between = read_clock()
        held = lock_run(UUID(str(run.code)), ("code",))
        assert held is not None
        assert began <= project.at <= between <= held[0].at <= read_clock()
