"""Any number of runs in one commit: all are stored but those that moved, each whole."""

from __future__ import annotations

import httpx

from accounts.models import Project
from ledger.models import Entry, ProjectHead, Run, SharedUse
from ledger.verification.verify import verify_run
from ledger.writer import Committed
from ledger.writer.batch import Committer
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
