"""Several processes count while agents work, and one of them is killed in the middle."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from pathlib import Path
from random import Random
from subprocess import CompletedProcess

import httpx
import pytest
from django.conf import settings
from django.db import connection

from accounts.models import Project
from ledger.models import ProjectHead, StatisticsCursor
from ledger.statistics.counting import count_project
from ledger.statistics.recount import list_differences
from ledger.statistics.selectors import read_totals
from tests.conftest import client_for
from tests.ledger.statistics.work import scope_of, sum_runs, work
from tests.support.builders import make_robot
from tests.support.examples import ALL, part
from tests.support.live import Live
from tests.support.processes import DATABASE, database_url, environment
from tests.support.programs.forked import Program, run
from tests.support.threads import Threads

COUNTER = Path(__file__).with_name("counter.py")
SIZE = 5  # of its slices
RUNS = part(160, least=8)
# In which slice a process dies: by day one of them, at night many.
DEATHS = range(1, 25) if ALL else (3,)


def choose_database(folder: Path) -> Mapping[str, str]:
    """The very database of this test run."""
    if connection.vendor == "postgresql":
        return environment(
            DATABASE_URL=database_url(),
            REDIS_URL=os.environ["REDIS_URL"],
            SECRET_KEY=settings.SECRET_KEY,
            CHECKRAIL_HOSTS="127.0.0.1",
            CHECKRAIL_ORIGINS="http://127.0.0.1",
        )
    (folder / DATABASE).symlink_to(connection.settings_dict["NAME"])
    return environment(CHECKRAIL_DATA=str(folder))


@pytest.mark.timeout(1_800 if ALL else 300)
def test_a_count_is_whole_whoever_dies(
    live: Live,
    agent: httpx.Client,
    reviewer: httpx.Client,
    project: Project,
    tmp_path: Path,
) -> None:
    variables = choose_database(tmp_path)

    def count_elsewhere(slices: int) -> CompletedProcess[str]:
        arguments = (str(COUNTER), str(project.pk), str(slices))
        return run(Program(arguments=arguments, variables=variables), timeout=60)

    def work_on(client: httpx.Client, seed: int) -> None:
        random = Random(seed)
        for _ in range(RUNS // 2):
            work(client, reviewer, random)

    with client_for(live, make_robot("other", project=project)) as other:
        work_on(agent, 1)
        StatisticsCursor.objects.get_or_create(project_id=project.pk)
        assert count_elsewhere(2).returncode == -signal.SIGKILL
        # Of its second slice nothing is left.
        assert StatisticsCursor.objects.get(pk=project.pk).position == SIZE
        assert list_differences(project_id=project.pk) == []
        with Threads(4) as pool:
            workers = [pool.submit(work_on, client, 2) for client in (agent, other)]
            alive = pool.submit(count_elsewhere, 0)
            for slices in DEATHS:
                died = count_elsewhere(slices)
                assert died.returncode in {0, -signal.SIGKILL}, died.stderr
            for each in workers:
                each.result()
            assert alive.result().returncode == 0
    count_project(project_id=project.pk)

    head = ProjectHead.objects.get(pk=project.pk).position
    assert StatisticsCursor.objects.get(pk=project.pk).position == head
    assert list_differences(project_id=project.pk) == []
    totals = read_totals(scope=scope_of(project))
    told = {name: getattr(totals, name) for name in sum_runs(project)}
    assert told == sum_runs(project)
