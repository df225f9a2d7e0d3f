"""The runs that a bench lives through before it copies them: ruled both ways, and ended."""

from __future__ import annotations

import asyncio
from random import Random

from asgiref.sync import sync_to_async
from django.db import connection

from accounts.models import Project
from bench.servers.fill_database import lift_limits
from bench.servers.many_runs import live_run
from ledger.models import Run
from reviews.models import RulingFact
from tests.support.builders import Person, Robot


def test_runs_are_ruled_both_ways_and_end(
    project: Project, robo: Robot, bob: Person
) -> None:
    # Rulings are made by a thread whose connection another test may have cut.
    asyncio.run(sync_to_async(lambda: connection.close())())
    lift_limits(project.pk)
    for number in range(8):
        living = live_run(
            robo.principal, [bob.principal], Random(number), number=number, count=41
        )
        asyncio.run(living)
    ruled = RulingFact.objects.filter(project=project)
    assert set(ruled.values_list("action", flat=True)) == {"approve", "deny"}
    ends = set(Run.objects.filter(project=project).values_list("status", flat=True))
    assert ends >= {"completed", "failed", "aborted", "paused"}
