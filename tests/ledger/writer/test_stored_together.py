"""Any number of runs in one commit: all are stored but those that moved, each whole."""

from __future__ import annotations

import httpx
import pytest
from django.db import connection, transaction

from accounts.models import Project
from ledger.models import Entry, ProjectHead, Run, SharedUse
from ledger.verification.verify import verify_run
from ledger.writer import Committed
from ledger.writer.batch import Committer
from ledger.writer.locking import store_runs
from ledger.writer.run_writes import RunWrite
from tests.ledger.writer.test_batches import Answered, send
from tests.support.builders import Robot, start_run, step
from tests.support.rows import each_row

SMALL = {"tokens": 1_500}


@each_row("count", [1, 2, 7, 47])
def test_all_but_those_that_moved(
    agent: httpx.Client, robo: Robot, project: Project, count: int
) -> None:
    """Every third stops at its budget, so that more of it changes than with a step."""
    commits: list[Committed] = []
    committer = Committer(commits.append)
    runs = [
        start_run(agent, budget=SMALL) if number % 3 == 1 else start_run(agent)
        for number in range(count)
    ]
    before = report_all(committer, robo, runs, 1)
    assert not before
    moved = set(runs[4::5])
    for run in moved:
        assert agent.post(f"/runs/{run}/steps", json=step(2)).status_code == 201
    counted = count_tokens(project)

    again = report_all(committer, robo, runs, 2)

    assert {each.job.request.run_code for each in again} == moved
    assert commits[-1].projects == {project.pk}
    rows = {str(row.code): row for row in Run.objects.filter(project=project)}
    for number, run in enumerate(runs):
        row = rows[run]
        assert (row.steps, row.tokens_used, row.head_seq) == (
            2,
            2_000,
            row.last_step + 1,
        )
        assert (row.status == "running") == (number % 3 != 1), row.status_reason
        assert verify_run(row).ok
    entries = Entry.objects.filter(project=project).order_by("position")
    positions = list(entries.values_list("position", flat=True))
    head = ProjectHead.objects.get(project=project).position
    assert positions == list(range(1, head + 1))
    assert count_tokens(project) - counted == 1_000 * (count - len(moved))


def test_what_was_decided_by_other_halts_is_not_stored(
    agent: httpx.Client, project: Project
) -> None:
    if connection.vendor == "postgresql":
        pytest.skip("PostgreSQL stores no run without an entry.")
    committer = Committer(lambda _: None)
    states = [committer.states.get(start_run(agent)) for _ in range(3)]
    version = ProjectHead.objects.get(project=project).halts_version
    writes = [
        RunWrite(
            old_hash=run.head_hash, state=run, before=run, halts_version=decided_by
        )
        for run, decided_by in zip(states, (version + 1, version, None), strict=True)
    ]
    with transaction.atomic():
        assert store_runs(writes) == {run.id for run in states[1:]}


def report_all(
    committer: Committer, robo: Robot, runs: list[str], number: int
) -> list[Answered]:
    """One step of each, in one batch; returns those to be judged again."""
    sent = [send(robo, run, number) for run in runs]
    again = committer.commit_batch([each.job for each in sent])
    return [each for each in sent if each.job in again]


def count_tokens(project: Project) -> int:
    day = SharedUse.objects.filter(
        scope="project", owner=project.pk, period__contains="-"
    )
    return max(day.values_list("tokens", flat=True))
